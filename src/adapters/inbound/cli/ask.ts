import type { Answer } from '../../../application/answers/answer.ts';
import type { AnswerQueryInput } from '../../../application/answers/answer-query.ts';
import type { Application } from '../../../application/answers/application.ts';
import type { SearchProgress } from '../../../application/ports/llm-search.ts';
import { languageOf } from '../../../domain/answers/language.ts';
import type { ToolName } from '../../../domain/answers/tool-name.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { toReportJson } from '../report-json.ts';
import { messageFor } from '../words/error-messages.ts';
import { findingsOf } from '../words/finding-messages.ts';
import { count } from '../words/plain.ts';
import { progressMessage } from '../words/progress-messages.ts';
import { toolErrorMessage } from '../words/tool-error-messages.ts';
import type { CommandContext } from './command-context.ts';
import { openLine } from './live-line.ts';
import { type TerminalLook, toTerminalText } from './terminal-markdown.ts';

export interface AskOptions extends CommandContext {
  readonly application: Pick<Application, 'answerQuery'>;
  readonly tool: ToolName;
  readonly question: string;
  readonly json: boolean;
  readonly verbose: boolean;
  /** The terminal that shows the answer; a program gets its Markdown unchanged. */
  readonly terminal?: TerminalLook | undefined;
}

/** Asks one question for a person, prints the answer and returns the exit code. `signal` aborts on Ctrl-C. */
export async function ask(options: AskOptions, signal: AbortSignal): Promise<number> {
  const { application, redactor, tool, question, json, verbose, out, terminal, err } = options;
  const language = languageOf(question);
  const line = openLine(options);
  let ended: string[] = [];
  // The next round begins as soon as a call has ended: in a line of its own, the end would not stay visible.
  const describe = (progress: SearchProgress): string => {
    const message = progressMessage(progress, language);
    if (progress.kind === 'called') ended.push(message);
    if (progress.kind !== 'asking') return message;
    const shown = [message, ...ended].join(' · ');
    ended = [];
    return shown;
  };
  const query: AnswerQueryInput = {
    caller: 'ask',
    isLocal: true,
    isUnlimited: true,
    tool,
    args: { query: question },
    observer: { onProgress: (progress) => line?.show(describe(progress)) },
  };
  const answer = await application.answerQuery(query, signal);
  line?.end();

  if (answer.isErr()) {
    const message = redactor.inLogs(messageFor(answer.error));
    const handle = 'handle' in answer.error ? answer.error.handle : undefined;
    if (json) out(`${redactedJson({ error: { kind: answer.error.kind, message, handle } }, redactor.inLogs, 2)}\n`);
    err.write(`${message}\n`);
    return answer.error.kind === 'cancelled' ? INTERRUPTED : FAILED;
  }
  const { result } = answer.value;
  const report = toReportJson(answer.value.report);
  // The output contract, and what the answer took.
  const output = json ? redactedJson({ ...result, report }, redactor.anywhere, 2) : redactor.anywhere(result.answer);
  out(`${terminal === undefined || json ? output : toTerminalText(output, terminal)}\n`);
  for (const server of answer.value.report.loginRequired ?? [])
    err.write(`${toolErrorMessage({ kind: 'login_required', server })}\n`);
  const findings = json ? [] : findingsOf(answer.value, language, verbose);
  if (findings.length > 0) out(`\n${redactor.anywhere(findings.map((line) => `- ${line}\n`).join(''))}`);
  if (verbose && !json) err.write(`${redactor.anywhere(summary(answer.value.report))}\n`);
  return SUCCEEDED;
}

/** What the answer took, in one line. */
function summary({ model, usage, searches, attempts, seconds, rounds, toolCalls }: Answer['report']): string {
  const tokens = usage && `${usage.inputTokens} tokens in (${usage.cachedTokens} cached), ${usage.outputTokens} out`;
  const parts = [
    `${seconds.toFixed(1)} s`,
    model && cleanLine(model),
    count(searches, 'search', 'searches'),
    tokens,
    attempts > 1 ? count(attempts, 'request') : undefined,
    rounds === undefined ? undefined : `${count(rounds, 'round')}, ${count(toolCalls?.length ?? 0, 'tool call')}`,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}
