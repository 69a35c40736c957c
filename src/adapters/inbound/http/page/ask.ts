import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { META_PREFIX } from '../../mcp/era.ts';
import { metaOf } from '../../mcp/json-rpc.ts';
import { callRunner } from './call-runner.ts';
import { messagesOf } from './calls.ts';
import { announce, byId, type Child, el, foreign, link } from './elements.ts';
import { answerParts, type Part } from './markdown.ts';
import { mcpPath, post } from './requests.ts';
import { type ShownAnswer, type Source, sourcesOf, withoutSources } from './sources.ts';

/** Connects the form for questions to the answer tools. */
export function startAsking(): void {
  const form = byId('ask-form', HTMLFormElement);
  const question = byId('question', HTMLTextAreaElement);
  const tool = byId('ask-tool', HTMLSelectElement);
  const submit = byId('ask-submit', HTMLButtonElement);
  const run = callRunner({
    box: byId('ask', HTMLElement),
    submit,
    cancel: byId('ask-cancel', HTMLButtonElement),
    time: byId('ask-time', HTMLElement),
    result: byId('ask-result', HTMLElement),
  });
  const ask = (query: string, name: string): Promise<void> =>
    run(async (signal, elapsed) => {
      const message = await lastMessage(query, name, signal);
      const { result, error } = message;
      if (!isObject(result) || !isObject(result.structuredContent)) {
        const failed = `No answer after ${elapsed()}`;
        return [el('div', { className: 'failure' }, failed, foreign(reasonIn(result ?? error), 'p'))];
      }
      const { [`${META_PREFIX}report`]: report } = metaOf(result);
      // The built-in tools return this form.
      const shown = { result: result.structuredContent, report } as unknown as ShownAnswer;
      return answerNodes(shown, elapsed(), (handle) => {
        // The button is removed, and would take the focus with it.
        submit.focus();
        void ask(handle, name);
      });
    });
  form.onsubmit = (event) => {
    event.preventDefault();
    void ask(question.value, tool.value);
  };
}

/** Calls an answer tool, shows its progress, and returns the response. */
async function lastMessage(query: string, name: string, signal: AbortSignal): Promise<JsonObject> {
  const progress = byId('ask-progress', HTMLElement);
  progress.replaceChildren();
  progress.hidden = true;
  const params = { name, arguments: { query }, _meta: { progressToken: 1 } };
  const response = await post(mcpPath(), { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, signal);
  for await (const message of messagesOf(response)) {
    const { method, params } = message;
    if (method === undefined) return message;
    if (method === 'notifications/progress' && isObject(params))
      showProgress(progress, String(params.message ?? params.progress));
  }
  return {};
}

/** The message of a JSON-RPC error, or of a result that is an error. */
function reasonIn(outcome: unknown): string {
  if (!isObject(outcome)) return '';
  const { data, message, content } = outcome;
  const [first] = Array.isArray(content) ? content : [];
  return String((isObject(data) ? data.message : undefined) ?? message ?? first?.text ?? '');
}

/** Replaces the last line if only its numbers are different. */
function showProgress(list: HTMLElement, text: string): void {
  const last = list.lastElementChild;
  list.hidden = false;
  if (last !== null && kindOf(last.textContent) === kindOf(text)) last.textContent = text;
  else {
    list.append(foreign(text, 'li'));
    announce(text);
  }
  list.scrollTop = list.scrollHeight;
}

function kindOf(text: string): string {
  return text.replace(/ · \d+ s$/, '').replace(/\d+/g, '0');
}

/** The elements that show an answer. `askAgain` is called with the handle of an answer that is not finished. */
function answerNodes(shown: ShownAnswer, time: string, askAgain: (handle: string) => void): readonly Child[] {
  const { answer, used_search: usedSearch, model } = shown.result;
  const { state, handle, cost } = shown.report;
  if (state === 'unfinished' && handle !== undefined) {
    const again = el('button', { type: 'button', onclick: () => askAgain(handle) }, 'Ask again');
    return [el('p', { className: 'hint' }, `Not finished after ${time}`), markdown(answer), again];
  }
  const how = usedSearch ? 'with web search' : 'without web search';
  // A recorded answer costs nothing.
  const price = cost === undefined || cost.usd === 0 ? '' : `, for about $${cost.usd.toFixed(4)}`;
  const sources = sourcesOf(shown).map(sourceItem);
  return [
    el('p', { className: 'hint' }, `Answered in ${time}, ${how}, by ${model}${price}`),
    markdown(withoutSources(shown.result)),
    sources.length === 0 ? [] : [el('h3', {}, 'Sources'), el('ol', { className: 'sources' }, sources)],
  ];
}

function sourceItem({ url, title, about, findings, quote }: Source): HTMLElement {
  return el(
    'li',
    {},
    link(url, title),
    el('span', { className: 'muted' }, ` (${about})`),
    findings.map((finding) => el('div', { className: 'hint' }, finding)),
    quote === undefined ? [] : el('details', {}, el('summary', {}, 'Similar passage'), foreign(quote, 'p')),
  );
}

function markdown(text: string): HTMLElement {
  return el('div', { className: 'answer' }, answerParts(text).map(toChild));
}

function toChild(part: Part): Child {
  if (typeof part === 'string') return part;
  const { tag, parts, href, start } = part;
  if (href !== undefined) return link(href, parts.join(''));
  const children = parts.map(toChild);
  if (tag === 'ol') return el('ol', { start: start ?? 1 }, children);
  // The focus allows scrolling with the keyboard.
  return tag === 'pre' ? el('pre', { tabIndex: 0 }, children) : el(tag, {}, children);
}
