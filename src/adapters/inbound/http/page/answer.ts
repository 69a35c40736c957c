import { type Child, el, foreign, link } from './elements.ts';
import { answerParts, type Part } from './markdown.ts';
import { type ShownAnswer, type Source, sourcesOf, withoutSources } from './sources.ts';

/** The elements that show an answer. `askAgain` is called with the handle of an answer that is not finished. */
export function answerNodes(shown: ShownAnswer, time: string, askAgain: (handle: string) => void): readonly Child[] {
  const { answer, used_search: usedSearch, model } = shown.result;
  const { state, handle } = shown.report;
  if (state === 'unfinished' && handle !== undefined) {
    const again = el('button', { type: 'button', onclick: () => askAgain(handle) }, 'Ask again');
    return [el('p', { className: 'hint' }, `Not finished after ${time}`), markdown(answer), again];
  }
  const how = usedSearch ? 'with web search' : 'without web search';
  const sources = sourcesOf(shown).map(sourceItem);
  return [
    el('p', { className: 'hint' }, `Answered in ${time}, ${how}, by ${model}`),
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
