import type { CheckSources } from '../../../application/check/check-sources.ts';
import { languageOf } from '../../../domain/answers/language.ts';
import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { CHECK, checkText, findingsIn, toCheckJson } from '../words/check-messages.ts';
import type { CommandContext } from './terminal.ts';
import { openLine } from './terminal.ts';

interface CheckTextOptions extends CommandContext {
  readonly check: CheckSources;
  readonly text: string;
  readonly json: boolean;
}

/** Checks the sources of a text for a person, prints what was found, and returns the exit code: 1 with findings, 2 if the text is empty or too long. */
export async function checkTextFor(options: CheckTextOptions, signal: AbortSignal): Promise<number> {
  const { check, text, json, redactor, out, err } = options;
  if (text.trim() === '') {
    err.write(`${CHECK.empty}\n`);
    return BAD_USAGE;
  }
  const line = openLine(options);
  const onProgress = (done: number, all: number) => line?.show(CHECK.progress(done, all));
  const checked = await check({ text, caller: LOCAL_CALLER, onProgress }, signal);
  line?.end();
  if (checked.isErr()) {
    if (checked.error.kind === 'cancelled') return INTERRUPTED;
    err.write(`${CHECK.refused(checked.error)}\n`);
    return BAD_USAGE;
  }
  const report = checked.value;
  const language = languageOf(text);
  const shown = json
    ? redactedJson(toCheckJson(report, language), redactor.anywhere, 2)
    : withoutUnsafeCharacters(redactor.anywhere(checkText(report, language)));
  out(`${shown}\n`);
  return findingsIn(report) > 0 ? FAILED : SUCCEEDED;
}
