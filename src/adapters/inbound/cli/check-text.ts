import type { CheckSources } from '../../../application/check/check-sources.ts';
import { languageOf } from '../../../domain/answers/question.ts';
import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { type Style, styled } from '../../../domain/values/terminal-style.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, NOTHING_READ, SUCCEEDED } from '../exit-codes.ts';
import { toCheckJson } from '../words/check-json.ts';
import { CHECK } from '../words/check-messages.ts';
import { checkText, findingsIn, isUnread, TITLES, TRY_PRIVATE } from '../words/check-report.ts';
import type { Checked } from '../words/check-summary.ts';
import { type CommandContext, openLine, reportFailure, say } from './terminal.ts';
import { fitted } from './terminal-lines.ts';

/** A text that is checked; `file` names it in the report. */
interface NamedText {
  readonly file?: string | undefined;
  readonly text: string;
}

interface CheckTextOptions extends CommandContext {
  readonly check: CheckSources;
  readonly texts: readonly NamedText[];
  readonly json: boolean;
  readonly isStrict?: boolean;
  readonly isPrivate?: boolean;
  /** Patterns of URLs that are not checked. */
  readonly ignored?: readonly string[];
}

/**
 * Checks the sources of texts for a person, prints what was found, and returns the exit code: 1 with findings, 2 if a text is empty or too long, 3 if there
 * are links and no page could be read.
 */
export async function checkTextFor(options: CheckTextOptions, signal: AbortSignal): Promise<number> {
  const { check, texts, json, isStrict = false, isPrivate = false, ignored, redactor, out } = options;
  const checked: Checked[] = [];
  const refused: string[] = [];
  const refuse = (file: string | undefined, message: string) =>
    refused.push(`${file === undefined || texts.length === 1 ? '' : `${file}: `}${message}`);
  const line = openLine(options);
  const onProgress = (done: number, all: number) => line?.show(CHECK.progress(done, all));
  for (const { file, text } of texts) {
    if (text.trim() === '') {
      refuse(file, CHECK.empty);
      continue;
    }
    const one = await check({ text, caller: LOCAL_CALLER, onProgress, ignored }, signal);
    if (one.isOk()) checked.push({ file, report: one.value });
    else if (one.error.kind !== 'cancelled') refuse(file, CHECK.refused(one.error));
    else {
      line?.end();
      return INTERRUPTED;
    }
  }
  line?.end();
  if (checked.length === 0) {
    reportFailure(options, { code: 'VALIDATION_ERROR', message: refused.join('\n') });
    return BAD_USAGE;
  }
  for (const problem of refused) say(problem, options);
  const language = languageOf(texts.map(({ text }) => text).join('\n'));
  const shown = json
    ? redactedJson(toCheckJson(checked, language, isStrict), redactor.anywhere, 2)
    : colouredTitles(
        fitted(withoutUnsafeCharacters(redactor.anywhere(checkText(checked, { language, isStrict }))), options),
        options.hasStyles,
      );
  out(`${shown}\n`);
  const reasons = checked.flatMap(({ report }) => report.links.map(({ reason = '' }) => reason));
  if (!json && !isPrivate && reasons.some((reason) => NOT_PUBLIC.includes(reason))) say(TRY_PRIVATE, options);
  if (refused.length > 0) return BAD_USAGE;
  if (findingsIn(checked, isStrict) > 0) return FAILED;
  return isUnread(checked) ? NOTHING_READ : SUCCEEDED;
}

/** Why a page is not read without `--private`. */
const NOT_PUBLIC = ['forbidden', 'port'];

const COLOURS = new Map<string, Style>(
  Object.values(TITLES).flatMap(({ findings, unread, redirected }): [string, Style][] => [
    [findings, 'red'],
    [unread, 'yellow'],
    [redirected, 'cyan'],
  ]),
);

function colouredTitles(report: string, hasStyles = false): string {
  const colour = (line: string) => styled(COLOURS.get(line) ?? 'bold', line, hasStyles && COLOURS.has(line));
  return report.split('\n').map(colour).join('\n');
}
