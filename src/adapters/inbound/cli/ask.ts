import type { Answer } from '../../../application/answer-query.ts';
import type { Application } from '../../../application/application.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import { languageOf } from '../../../domain/language.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import type { ToolName } from '../../../domain/tool-name.ts';
import { wordsFor } from '../error-words.ts';
import { progressWords } from '../progress-words.ts';
import { toReportJson } from '../report-json.ts';
import { LiveLine, type Terminal } from './live-line.ts';

export interface AskOptions {
  readonly application: Application;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly tool: ToolName;
  readonly question: string;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly out: (text: string) => void;
  /** Standard error; a live line is shown only on a terminal. */
  readonly err: Terminal & { readonly isTTY?: boolean };
}

/** Exit codes of `ask`. */
const ANSWERED = 0;
export const FAILED = 1;
const INTERRUPTED = 130;

/** Asks one question for a person and prints the answer; gives back the exit code. `signal` aborts on Ctrl-C. */
export async function ask(options: AskOptions, signal: AbortSignal): Promise<number> {
  const { application, redactor, tool, question, json, verbose, out, err, clock } = options;
  const line = err.isTTY === true ? new LiveLine(err, clock) : undefined;
  const observer = line === undefined ? { onProgress: () => {} } : showOn(line, question);
  const answer = await application.answerQuery(
    { requestKey: 'ask', caller: 'ask', tool, args: { query: question }, observer },
    signal,
  );
  line?.end();

  if (answer.isErr()) {
    err.write(`${redactor.inLogs(wordsFor(answer.error))}\n`);
    return answer.error.kind === 'cancelled' ? INTERRUPTED : FAILED;
  }
  out(`${redactor.anywhere(json ? toJson(answer.value) : answer.value.result.answer)}\n`);
  if (verbose && !json)
    err.write(`${redactor.anywhere(JSON.stringify(toReportJson(answer.value.report), undefined, 2))}\n`);
  return ANSWERED;
}

function showOn(line: LiveLine, question: string): SearchObserver {
  const language = languageOf(question);
  return { onProgress: (progress) => line.show(progressWords(progress, language)) };
}

/** The output contract, and beside it what the answer took. */
function toJson({ result, report }: Answer): string {
  return JSON.stringify({ ...result, report: toReportJson(report) }, undefined, 2);
}
