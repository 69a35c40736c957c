import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { notApprovedMessage } from '../../words/lock-messages.ts';
import { count } from '../../words/plain.ts';
import { announce, type Child, el, foreign } from './elements.ts';
import { jsonOf, post } from './requests.ts';
import { keyOf, type ListedTool } from './tool-panel.ts';

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
  /** The names of tools that are not approved. */
  readonly changed?: readonly string[];
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
export function builtInCard(name: string, tools: CardTools): HTMLElement {
  const heading = el('div', { className: 'row' }, el('h3', {}, foreign(name)));
  const about = el('div', { className: 'facts' }, 'built in: the answer tools');
  return el('article', CARD(name), heading, about, toolList(name, tools));
}

export function serverCard(server: ListedServer, tools: CardTools, onRestarted: () => void): HTMLElement {
  const { name, state, login, changed, transport, restarts, pid, serverInfo = {} } = server;
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
    idleNote(server),
    changed === undefined ? undefined : el('p', { className: 'hint warn' }, foreign(notApprovedMessage(changed))),
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
