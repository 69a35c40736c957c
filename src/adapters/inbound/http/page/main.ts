import { startAsking } from './ask.ts';
import { startChecking } from './check.ts';
import { byId, el } from './elements.ts';
import {
  allowTokenQuestion,
  askForToken,
  bodyOf,
  hasToken,
  keepLoading,
  messageOf,
  NO_TOKEN,
  request,
  signsInElsewhere,
  unreachable,
} from './requests.ts';
import { type Listed, type ListedServer, ServerList } from './server-list.ts';
import { type ListedTool, ToolPanels } from './tool-panel.ts';

let listed: Listed = { servers: undefined, noneAllowed: false, tools: undefined, canAnswer: true, canCheck: false };
let toolsTag = '';
const panels = new ToolPanels(() => loadServers());
const list = new ServerList(panels, refresh);

startAsking();
startChecking();
const loadServers = start(async () => {
  const body = await load('/mcp/servers');
  const states = (servers?: readonly ListedServer[]) => servers?.map(({ state }) => state).join();
  const before = states(listed.servers);
  const { canAnswer, canCheck } = body;
  const can = { canAnswer: canAnswer !== false, canCheck: canCheck === true };
  const servers = body.servers as readonly ListedServer[];
  listed = { ...listed, ...can, servers, noneAllowed: body.noneAllowed === true };
  if (before !== states(listed.servers)) loadTools();
});
const loadTools = start(async () => {
  const body = await load('/mcp/tools', { 'If-None-Match': toolsTag });
  if (body.tools === undefined) return;
  listed = { ...listed, tools: body.tools as readonly ListedTool[] };
  toolsTag = String(body.tag ?? '');
});
byId('refresh', HTMLElement).onclick = refresh;
byId('change-token', HTMLElement).onclick = () => askForToken('').then(refresh, () => {});
byId('filter', HTMLElement).oninput = () => list.show(listed);
byId('openapi', HTMLAnchorElement).onclick = (event) => {
  if (!hasToken()) return;
  event.preventDefault();
  void saveOpenApi();
};

function start(loadNow: () => Promise<void>): () => void {
  return keepLoading({
    load: loadNow,
    onLoaded: (error) => {
      showTrouble(error);
      list.show(listed);
    },
    isStarting: () => listed.servers?.some(({ state }) => state === 'starting') === true,
  });
}

function refresh(): void {
  allowTokenQuestion();
  loadServers();
  loadTools();
}

/** Loads a list; the result has no members if nothing has changed. */
async function load(path: string, headers = {}): Promise<Record<string, unknown>> {
  const response = await request(path, { headers, cache: 'no-store' });
  return response.status === 304 ? {} : { ...(await bodyOf(response)), tag: response.headers.get('ETag') };
}

function showTrouble(error: unknown): void {
  const isSignedOut = error === NO_TOKEN && signsInElsewhere;
  byId('sign-in', HTMLElement).hidden = !isSignedOut;
  byId('columns', HTMLElement).hidden = isSignedOut;
  const text = error === undefined || isSignedOut ? '' : troubleText(error);
  const trouble = byId('trouble', HTMLElement);
  trouble.hidden = text === '';
  if (trouble.textContent !== text) trouble.textContent = text;
}

/** `fetch` throws a TypeError if there is no response. */
function troubleText(error: unknown): string {
  return error instanceof TypeError ? unreachable(error) : messageOf(error);
}

/** Downloads the document with a request, because a link cannot send a token. */
async function saveOpenApi(): Promise<void> {
  const described: object = await (await request('/openapi.json')).json();
  // Away from the gateway, a relative URL would lead nowhere.
  const saved = { ...described, servers: [{ url: new URL('.', location.href).href.replace(/\/$/, '') }] };
  const href = URL.createObjectURL(new Blob([JSON.stringify(saved)], { type: 'application/json' }));
  el('a', { href, download: 'openapi.json' }).click();
  URL.revokeObjectURL(href);
}
