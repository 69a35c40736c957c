import type { SourcesReport } from '../../../application/check/check-sources.ts';
import { languageOf } from '../../../domain/answers/language.ts';
import { checkText, toCheckJson } from '../words/check-report.ts';

/** Maximum length of the text that a model reads. */
const MAX_RESULT_CHARS = 2000;

/** The result of the tool that checks sources: a text for models, and the complete report for programs. */
export function toCheckResult(report: SourcesReport, text: string) {
  const language = languageOf(text);
  const content = [{ type: 'text', text: checkText([{ report }], { language, max: MAX_RESULT_CHARS }) }];
  return { content, structuredContent: toCheckJson([{ report }], language) };
}
