import { callRunner } from './call-runner.ts';
import { byId, type Child, el, foreign, link } from './elements.ts';
import { bodyOf, post } from './requests.ts';
import { type CheckReport, findingsOf, type ReportItem, unreadableOf } from './sources.ts';

/** Connects the form that checks the sources of a text to REST. */
export function startChecking(): void {
  const text = byId('check-text', HTMLTextAreaElement);
  const run = callRunner({
    box: byId('check', HTMLElement),
    submit: byId('check-submit', HTMLButtonElement),
    cancel: byId('check-cancel', HTMLButtonElement),
    time: byId('check-time', HTMLElement),
    result: byId('check-result', HTMLElement),
  });
  byId('check-form', HTMLFormElement).onsubmit = (event) => {
    event.preventDefault();
    void run(async (signal) => {
      const body = await bodyOf(await post('/mcp/check', { text: text.value }, signal));
      return reportNodes(body as unknown as CheckReport);
    });
  };
}

function reportNodes(report: CheckReport): readonly Child[] {
  return [
    el('p', {}, el('strong', {}, report.summary)),
    list('Findings', 'bad', findingsOf(report)),
    list('Not readable', 'muted', unreadableOf(report)),
  ];
}

function list(title: string, className: string, items: readonly ReportItem[]): Child {
  if (items.length === 0) return undefined;
  const nodes = items.map((item) => reportItem(item, className));
  return [el('h3', {}, title), el('ul', { className: 'sources' }, nodes)];
}

function reportItem({ href, url, problem, claim, passage, line, column }: ReportItem, className: string): HTMLElement {
  return el(
    'li',
    {},
    claim === undefined ? [] : foreign(claim, 'div'),
    el('span', { className: 'hint' }, `${line}:${column} `),
    link(href, url),
    el('span', { className }, `: ${problem}`),
    passage === undefined ? [] : el('div', { className: 'hint' }, 'Nearest passage: ', foreign(passage)),
  );
}
