import { BUILT_IN_SERVER } from '../../../../domain/gateway/call-origin.ts';
import type { LeftOut } from '../../../../domain/gateway/shared-entries.ts';
import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { count } from '../../words/plain.ts';
import { leftOutMessage, notApprovedMessage } from '../../words/server-messages.ts';
import { announce, byId, type Child, el, foreign, link } from './elements.ts';
import { matching } from './filter.ts';
import { jsonOf, post } from './requests.ts';
import { keyOf, type ListedTool, type ToolPanels } from './tool-panel.ts';

/** The lists that the page has loaded so far. */
export interface Listed {
  readonly servers: readonly ListedServer[] | undefined;
  /** Whether there are servers, of which the caller may use none. */
  readonly noneAllowed: boolean;
  readonly tools: readonly ListedTool[] | undefined;
  /** Whether questions can be answered. */
  readonly canAnswer: boolean;
  /** Whether the caller may check the sources of a text. */
  readonly canCheck: boolean;
}

/** Shows servers and their tools. */
export class ServerList {
  readonly #panels: ToolPanels;
  readonly #refresh: () => void;
  #shownJson = '';

  constructor(panels: ToolPanels, refresh: () => void) {
    this.#panels = panels;
    this.#refresh = refresh;
  }

  /** Shows everything again if something has changed, with the focus where it was. */
  show(listed: Listed): void {
    const { servers, tools = [] } = listed;
    if (servers === undefined) return;
    const query = byId('filter', HTMLInputElement).value.trim();
    const json = JSON.stringify([listed, query]);
    if (json === this.#shownJson) return;
    this.#shownJson = json;
    showSummary(servers, tools);
    byId('servers-note', HTMLElement).hidden = servers.length > 0 || listed.noneAllowed;
    byId('none-allowed', HTMLElement).hidden = !listed.noneAllowed;
    showQuestion(listed);
    byId('check', HTMLElement).hidden = !listed.canCheck;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    const cards = this.#cards(servers, tools, query);
    byId('server-list', HTMLElement).replaceChildren(...cards);
    byId('no-match', HTMLElement).hidden = query === '' || cards.length > 0;
    if (focused !== undefined) document.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    this.#panels.showWanted(tools);
  }

  #cards(servers: readonly ListedServer[], tools: readonly ListedTool[], query: string): readonly HTMLElement[] {
    const found = matching(tools, query);
    const toolsOf = (name: string) => ({
      own: tools.filter(({ server }) => server === name),
      found: found.filter(({ server }) => server === name),
      isFiltered: query !== '',
      onChosen: (tool: ListedTool) => this.#panels.show(tool, true),
    });
    const isShown = (name: string) => query === '' || toolsOf(name).found.length > 0;
    const cards = inOrder(servers)
      .filter(({ name }) => isShown(name))
      .map((server) => serverCard(server, toolsOf(server.name), this.#refresh));
    const builtIn = toolsOf(BUILT_IN_SERVER);
    return builtIn.found.length === 0 ? cards : [...cards, builtInCard(BUILT_IN_SERVER, builtIn)];
  }
}

/** Servers that need a person come first: they do not recover by themselves. */
function inOrder(servers: readonly ListedServer[]): readonly ListedServer[] {
  const needsPerson = ({ state, changed }: ListedServer) =>
    state === 'failed' || state === 'login_required' || changed !== undefined;
  return [...servers.filter(needsPerson), ...servers.filter((server) => !needsPerson(server))];
}

function showSummary(servers: readonly ListedServer[], tools: readonly ListedTool[]): void {
  // A server that is idle starts with its first call.
  const available = servers.filter(({ state }) => state === 'available' || state === 'idle').length;
  const own = tools.filter(({ server }) => server !== BUILT_IN_SERVER).length;
  byId('summary', HTMLElement).textContent =
    servers.length === 0
      ? count(tools.length, 'tool')
      : `${available} of ${count(servers.length, 'server')} available, ${count(own, 'tool')}`;
}

/** Offers the answer tools that the caller may use; without any, or before they are known, there is no form for questions. */
function showQuestion({ tools = [], canAnswer }: Listed): void {
  const select = byId('ask-tool', HTMLSelectElement);
  const offered = tools.filter(({ server }) => server === BUILT_IN_SERVER).map(({ name }) => name);
  for (const option of select.options) option.disabled = option.hidden = !offered.includes(option.value);
  const first = [...select.options].find(({ value }) => offered.includes(value));
  if (first !== undefined && select.selectedOptions[0]?.disabled) select.value = first.value;
  byId('ask', HTMLElement).hidden = first === undefined;
  byId('no-key', HTMLElement).hidden = canAnswer;
  byId('ask-form', HTMLElement).hidden = !canAnswer;
}

/** A server as `/mcp/servers` lists it. */
export interface ListedServer {
  readonly name: string;
  readonly state: string;
  readonly since: string;
  readonly transport: string;
  readonly restarts: number;
  readonly pid?: number;
  readonly lastError?: string;
  /** When the tools were listed, if the server does not run. */
  readonly listedAt?: string;
  /** The command that signs in, if a person must sign in. */
  readonly login?: string;
  /** Where a caller signs in, if each has a login and this one has none. */
  readonly loginUrl?: string;
  /** The names of tools that are not approved. */
  readonly changed?: readonly string[];
  /** What the server listed that no one gets. */
  readonly leftOut?: readonly LeftOut[];
  readonly serverInfo?: JsonObject;
}

interface CardTools {
  readonly own: readonly ListedTool[];
  readonly found: readonly ListedTool[];
  readonly isFiltered: boolean;
  readonly onChosen: (tool: ListedTool) => void;
}

/** The names of the servers whose list of tools a person has closed. */
const closed = new Set<string>();

/** The answer tools, which are part of the program. */
function builtInCard(name: string, tools: CardTools): HTMLElement {
  const heading = el('div', { className: 'row' }, el('h3', {}, foreign(name)));
  const about = el('div', { className: 'facts' }, 'built in: the answer tools');
  return el('article', CARD(name), heading, about, toolList(name, tools));
}

function serverCard(server: ListedServer, tools: CardTools, onRestarted: () => void): HTMLElement {
  const { name, state, login, loginUrl, changed, leftOut, transport, restarts, pid, serverInfo = {} } = server;
  const problems = el('div');
  const verb = state === 'idle' ? 'Start' : 'Restart';
  const restart = el('button', { type: 'button', ariaLabel: `${verb} ${name}` }, verb);
  restart.dataset.key = `restart ${name}`;
  restart.onclick = async () => {
    announce(`${verb}ing ${name}`);
    const problem = await restartProblem(name);
    if (problem !== undefined) problems.append(el('p', { className: 'hint bad', role: 'alert' }, foreign(problem)));
    onRestarted();
  };
  const version = [serverInfo.title ?? serverInfo.name, serverInfo.version].filter((text) => typeof text === 'string');
  const facts = [count(restarts, 'restart'), transport, pid === undefined ? '' : `pid ${pid}`, version.join(' ')];
  return el(
    'article',
    CARD(name),
    el('div', { className: 'row' }, el('h3', {}, foreign(name)), stateNode(state), restart),
    el(
      'div',
      { className: 'facts' },
      el('span', {}, 'since ', timeNode(server.since)),
      facts.filter((fact) => fact !== '').map((fact) => foreign(fact)),
    ),
    login === undefined
      ? lastError(server)
      : el('p', {}, "To sign in, run on the gateway's machine: ", foreign(login, 'code')),
    loginUrl === undefined ? undefined : el('p', {}, link(loginUrl, `Sign in to ${name}`)),
    idleNote(server),
    changed === undefined ? undefined : el('p', { className: 'hint warn' }, foreign(notApprovedMessage(changed))),
    leftOut === undefined ? undefined : el('p', { className: 'hint warn' }, foreign(leftOutMessage(leftOut))),
    problems,
    toolList(name, tools),
  );
}

const CARD = (name: string) => ({ className: 'card server', ariaLabel: name });

function stateNode(state: string): HTMLElement {
  return el('span', { className: `state ${state}` }, state.replace('_', ' '));
}

function timeNode(time: string): HTMLElement {
  return el('time', { dateTime: time }, new Date(time).toLocaleString());
}

/** Says where the list of tools comes from, for a server that does not run. */
function idleNote({ state, listedAt }: ListedServer): Child {
  if (state !== 'idle') return undefined;
  const origin = listedAt === undefined ? 'of gateway.lock' : ['that it listed at ', timeNode(listedAt)];
  return el(
    'p',
    { className: 'hint' },
    'This server starts with its next call. Its tools are those ',
    origin,
    '. Choose Start to list them again.',
  );
}

function lastError(server: ListedServer): Child {
  const { state, lastError } = server;
  if (lastError === undefined) return undefined;
  const isOver = state === 'available';
  const when = isOver ? ['Last error, before ', timeNode(server.since), ': '] : 'Last error: ';
  return el('p', { className: isOver ? 'hint' : 'hint bad' }, when, foreign(lastError));
}

/** Restarts a server, and returns the reason of a refusal. Without a response, there is none, and the next refresh shows the state. */
async function restartProblem(name: string): Promise<string | undefined> {
  const response = await post(`/mcp/servers/${encodeURIComponent(name)}/restart`, {}).catch(() => undefined);
  const body = response && (await jsonOf(response));
  return isObject(body) && isObject(body.error) ? String(body.error.message) : undefined;
}

function toolList(name: string, { own, found, isFiltered, onChosen }: CardTools): Child {
  if (own.length === 0) return undefined;
  const total = count(own.length, 'tool');
  const summary = el('summary', {}, isFiltered ? `${found.length} of ${total}` : total);
  summary.dataset.key = `tools ${name}`;
  const items = found.map((tool) => toolItem(tool, onChosen));
  const list = el('ul', { className: 'tools' }, items);
  const details = el('details', { open: isFiltered || !closed.has(name) }, summary, list);
  summary.onclick = () => (details.open ? closed.add(name) : closed.delete(name));
  return details;
}

function toolItem(tool: ListedTool, onChosen: (tool: ListedTool) => void): HTMLElement {
  const about = [tool.title ?? '', tool.description].filter((text) => text !== '').join(': ');
  const button = el('button', { type: 'button' }, foreign(tool.name, 'code'));
  button.append(el('span', { className: 'about hint' }, about));
  button.dataset.key = keyOf(tool);
  button.onclick = () => onChosen(tool);
  return el('li', {}, button);
}
