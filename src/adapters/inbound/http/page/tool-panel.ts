import type { GatewayTool } from '../../../../domain/gateway/gateway-tool.ts';
import type { JsonObject } from '../../../../domain/values/json.ts';
import { callRunner } from './call-runner.ts';
import { curlCommand } from './calls.ts';
import { byId, el, foreign, pretty } from './elements.ts';
import { type InputForm, inputForm } from './form.ts';
import { hasToken, jsonOf, post, urlOf } from './requests.ts';
import { resultNodes, textBlock } from './result.ts';

/** A tool as `/mcp/tools` lists it. */
export interface ListedTool extends GatewayTool {
  /** The time limit of a call, in milliseconds. */
  readonly timeout: number;
}

interface Panel {
  readonly node: HTMLElement;
  readonly heading: HTMLElement;
  /** The tool as JSON, which shows whether the server has changed it. */
  readonly json: string;
}

/** Shows the selected tool. The panel of each tool keeps its entered input and its result. */
export class ToolPanels {
  readonly #panels = new Map<string, Panel>();
  readonly #onFailed: () => void;
  #selectedKey = '';

  /** `onFailed` is called after a call that failed: the server may have died. */
  constructor(onFailed: () => void) {
    this.#onFailed = onFailed;
  }

  /** Shows the selected tool, or else the tool that the URL of the page names, if it exists. */
  showWanted(tools: readonly ListedTool[]): void {
    const wanted = this.#selectedKey === '' ? location.hash.slice(1) : this.#selectedKey;
    const tool = tools.find((tool) => keyOf(tool) === wanted);
    if (tool !== undefined) this.show(tool, false);
  }

  /** Shows a tool. Its panel is created again if the server has changed the tool. */
  show(tool: ListedTool, isChosen: boolean): void {
    const key = keyOf(tool);
    const json = JSON.stringify(tool);
    const kept = this.#panels.get(key);
    const { node, heading } = kept?.json === json ? kept : this.#add(key, tool, json);
    this.#selectedKey = key;
    const place = byId('tool', HTMLElement);
    if (!node.isConnected) place.replaceChildren(node);
    for (const button of document.querySelectorAll<HTMLElement>('.tools button'))
      button.ariaCurrent = String(button.dataset.key === key);
    if (!isChosen) return;
    history.replaceState(null, '', `#${key}`);
    place.scrollTop = 0;
    heading.focus();
  }

  #add(key: string, tool: ListedTool, json: string): Panel {
    const panel = { ...toolPanel(tool, this.#onFailed), json };
    this.#panels.set(key, panel);
    return panel;
  }
}

export function keyOf({ server, name }: GatewayTool): string {
  return `${encodeURIComponent(server)}/${encodeURIComponent(name.toWellFormed())}`;
}

function toolPanel(tool: ListedTool, onFailed: () => void): Omit<Panel, 'json'> {
  const { server, name, title = name, description, inputSchema, outputSchema, annotations, timeout } = tool;
  const form = inputForm(inputSchema);
  const submit = el('button', { type: 'submit', className: 'primary' }, 'Call');
  const cancel = el('button', { type: 'button', hidden: true }, 'Cancel');
  const time = el('span', { className: 'muted', role: 'timer' });
  const command = el('div', { ariaLive: 'polite' });
  const result = el('div', { className: 'result', ariaLive: 'polite' });
  const heading = el('h2', { tabIndex: -1 }, foreign(title));
  const box = el('form', {}, form.nodes);
  box.append(el('div', { className: 'row' }, submit, cancel, copyButton(tool, box, form, command), time), command);
  const facts = [foreign(`${server} / ${name}`, 'code'), effectsOf(annotations), `time limit ${timeout / 1000} s`];
  const node = el(
    'div',
    {},
    heading,
    el('a', { className: 'back', href: '#servers' }, 'All tools'),
    el('p', { className: 'facts' }, facts),
    foreign(description, 'p'),
    box,
    result,
    el('details', {}, el('summary', {}, 'Schema'), textBlock(pretty({ inputSchema, outputSchema }))),
  );
  const run = callRunner({ box: node, submit, cancel, time, result });
  box.onsubmit = (event) => {
    event.preventDefault();
    const call = { server, toolName: name, input: form.read() };
    void run(async (signal, elapsed) => {
      const response = await post('/mcp/call', call, signal);
      if (!response.ok) onFailed();
      return resultNodes(response, await jsonOf(response), name, elapsed());
    });
  };
  return { node, heading };
}

/** Copies the call as a command, and shows it, because browsers permit copying only on localhost or with HTTPS. */
function copyButton(tool: ListedTool, box: HTMLFormElement, form: InputForm, shown: HTMLElement): HTMLElement {
  const button = el('button', { type: 'button' }, 'Copy as curl');
  button.onclick = async () => {
    if (!box.reportValidity()) return;
    const command = curlCommand(urlOf(`/mcp/tools/${keyOf(tool)}`).href, form.read(), hasToken());
    const isCopied = await navigator.clipboard?.writeText(command).then(
      () => true,
      () => false,
    );
    shown.replaceChildren(
      el('p', { className: 'hint' }, isCopied ? 'Copied:' : 'Copy this command:'),
      textBlock(command),
    );
  };
  return button;
}

/** The effects that the server declares for a tool, which need not be true. */
function effectsOf({ readOnlyHint, destructiveHint }: JsonObject = {}): HTMLElement | undefined {
  if (readOnlyHint === true) return el('span', { className: 'badge good' }, 'read-only, says the server');
  if (destructiveHint === true) return el('span', { className: 'badge bad' }, 'destructive, says the server');
  return undefined;
}
