import type { SourcesReport } from '../../../application/check/sources-report.ts';
import { languageOf } from '../../../domain/answers/question.ts';
import { toCheckJson } from '../words/check-json.ts';
import { checkText } from '../words/check-report.ts';

/** Maximum length of what a model reads: of the text, and of the JSON, which some clients show to models, too. */
const MAX_RESULT_CHARS = 2000;

/** The result of the tool that checks sources. `isComplete`: a program reads it, and gets the complete report in the structured content. */
export function toCheckResult(report: SourcesReport, text: string, isComplete: boolean) {
  const language = languageOf(text);
  const content = [{ type: 'text', text: checkText([{ report }], { language, max: MAX_RESULT_CHARS }) }];
  const complete = toCheckJson([{ report }], language);
  return { content, structuredContent: isComplete ? complete : shortened(complete) };
}

type CheckJson = ReturnType<typeof toCheckJson>;
type ListName = 'links' | 'claims' | 'quotes' | 'skipped';
type Entry = CheckJson[ListName][number];

const LISTS = ['links', 'claims', 'quotes', 'skipped'] as const;
/** Room for the number of entries that were left out. */
const OMITTED_CHARS = 20;

/** The report with the entries that fit, findings first, and the number of the others. */
function shortened({ summary, findings, ...complete }: CheckJson) {
  const shown: Record<ListName, Entry[]> = { links: [], claims: [], quotes: [], skipped: [] };
  let left = MAX_RESULT_CHARS - JSON.stringify({ summary, findings, ...shown }).length - OMITTED_CHARS;
  const entries = LISTS.flatMap((list) => complete[list].map((entry) => ({ list, entry, rank: rankOf(list, entry) })));
  let omitted = complete.further_links ?? 0;
  // Sorting is stable: findings stay in the order of the text.
  for (const { list, entry } of entries.sort((a, b) => a.rank - b.rank || inText(a.entry, b.entry))) {
    const length = JSON.stringify(entry).length + 1;
    if (length > left) omitted += 1;
    else {
      shown[list].push(entry);
      left -= length;
    }
  }
  return { summary, findings, ...shown, ...(omitted > 0 && { omitted }) };
}

/** Findings come first, then what could not be read or compared, then the rest. */
function rankOf(list: ListName, entry: Entry): number {
  const state = 'state' in entry ? entry.state : undefined;
  const isMissing = 'missing' in entry && entry.missing.length > 0;
  if (state === 'dead' || isMissing || state === 'missing') return 0;
  if (state === 'unreadable' || state === 'unread') return 1;
  return list === 'skipped' ? 3 : 2;
}

function inText(a: Entry, b: Entry): number {
  return a.line - b.line || a.column - b.column;
}
