import { BUILT_IN_SERVER } from '../../../../domain/gateway/call-origin.ts';
import { count } from '../../words/plain.ts';
import { byId } from './elements.ts';
import { matching } from './filter.ts';
import { builtInCard, type ListedServer, serverCard } from './server-card.ts';
import type { ListedTool, ToolPanels } from './tool-panel.ts';

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
    `${available} of ${count(servers.length, 'server')} available, ${count(own, 'tool')}`;
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
