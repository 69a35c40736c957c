import { startAsking } from './ask.ts';
import { startChecking } from './check.ts';
import { byId, el, foreign } from './elements.ts';
import {
  allowTokenQuestion,
  askForToken,
  bodyOf,
  hasToken,
  keepLoading,
  mcpPath,
  messageOf,
  NO_TOKEN,
  request,
  signsInElsewhere,
  unreachable,
  urlOf,
} from './requests.ts';
import { textBlock } from './result.ts';
import { type Listed, type ListedServer, ServerList } from './server-list.ts';
import { type ListedTool, ToolPanels } from './tool-panel.ts';

let listed: Listed = { servers: undefined, noneAllowed: false, tools: undefined, canAnswer: true, canCheck: false };
let shownWarnings = '';
let toolsTag = '';
const panels = new ToolPanels(() => loadServers());
const list = new ServerList(panels, refresh);

startAsking();
startChecking();
showAddress();
const loadServers = start(async () => {
  const body = await load('/mcp/servers');
  const states = (servers?: readonly ListedServer[]) => servers?.map(({ state }) => state).join();
  const before = states(listed.servers);
  const { canAnswer, canCheck } = body;
  const can = { canAnswer: canAnswer !== false, canCheck: canCheck === true };
  const servers = body.servers as readonly ListedServer[];
  listed = { ...listed, ...can, servers, noneAllowed: body.noneAllowed === true };
  showWarnings(body.warnings);
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
document.onkeydown = ({ key, ctrlKey, metaKey, target }) => {
  if (key !== 'Enter') return;
  if (target === byId('filter', HTMLElement)) document.querySelector<HTMLElement>('.tools button')?.click();
  else if (target instanceof HTMLTextAreaElement && (ctrlKey || metaKey)) target.form?.requestSubmit();
};
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

/** Shows what people should know about the configuration. */
function showWarnings(warnings: unknown): void {
  const shown = Array.isArray(warnings) ? warnings.map(String) : [];
  const json = JSON.stringify(shown);
  if (json === shownWarnings) return;
  shownWarnings = json;
  const box = byId('warnings', HTMLElement);
  box.replaceChildren(...shown.map((warning) => foreign(warning, 'li')));
  box.hidden = shown.length === 0;
}

/** Shows the URL for clients, and how Claude Code adds it. */
function showAddress(): void {
  const { href } = urlOf(mcpPath());
  byId('mcp-url', HTMLElement).textContent = href;
  byId('mcp-command', HTMLElement).append(textBlock(`claude mcp add --scope user --transport http gateway ${href}`));
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
