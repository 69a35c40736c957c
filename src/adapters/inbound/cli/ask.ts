import type { Answer, CallEvent, ToolError } from '../../../application/tools/tool-call.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import { languageOf } from '../../../domain/answers/question.ts';
import { BUILT_IN_SERVER, type CallOrigin } from '../../../domain/gateway/call-origin.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { ofFailedCall } from '../http/refusal.ts';
import { toReportJson } from '../report-json.ts';
import { findingsOf } from '../words/check-messages.ts';
import { messageFor } from '../words/error-messages.ts';
import { progressMessage } from '../words/mcp-messages.ts';
import { count, dollars } from '../words/plain.ts';
import { toolErrorMessage, unknownToolMessage } from '../words/tool-error-messages.ts';
import type { Ask } from './command.ts';
import { type CommandContext, openLine, reportFailure, say } from './terminal.ts';
import { type TerminalLook, toTerminalText } from './terminal-markdown.ts';

export interface AskOptions extends CommandContext, Pick<Ask, 'tool' | 'json' | 'verbose'> {
  readonly by: CallOrigin;
  readonly catalogue: Pick<ToolCatalogue, 'call'>;
  readonly question: string;
  /** The terminal that shows the answer; undefined if a program reads it, which gets the Markdown. */
  readonly terminal?: TerminalLook | undefined;
}

/** Asks one question for a person, prints the answer and returns the exit code. `signal` aborts on Ctrl-C. */
export async function ask(options: AskOptions, signal: AbortSignal): Promise<number> {
  const { catalogue, by, redactor, tool, question, json, verbose, out, terminal } = options;
  const language = languageOf(question);
  const line = openLine(options);
  const ended: string[] = [];
  const on = (event: CallEvent) => {
    if (event.kind !== 'searching') return;
    const { progress } = event;
    const message = progressMessage(progress, language);
    if (progress.kind === 'called') ended.push(message);
    // The next round begins as soon as a call has ended, and its line would replace that of the call, so one line shows both.
    const before = progress.kind === 'asking' ? ended.splice(0) : [];
    line?.show([message, ...before].join(' · '));
  };
  const args = { query: question };
  const call = { server: BUILT_IN_SERVER, tool, args, by, isUnlimited: true, on };
  const outcome = await catalogue.call(call, signal);
  line?.end();

  if (outcome.isErr()) return reportError(outcome.error, options);
  const { answer } = outcome.value;
  if (answer === undefined) throw new Error(`no answer of ${tool}`);
  const { result } = answer;
  const report = toReportJson(answer.report);
  const output = json ? redactedJson({ ...result, report }, redactor.anywhere, 2) : redactor.anywhere(result.answer);
  const isShown = terminal !== undefined && !json;
  out(`${isShown ? toTerminalText(output, terminal) : output}\n`);
  for (const server of answer.report.loginRequired ?? [])
    say(redactor.inLogs(toolErrorMessage({ kind: 'login_required', server }, options.ownCommand)), options);
  const findings = json ? [] : findingsOf(answer, language, verbose);
  if (findings.length > 0) out(`\n${redactor.anywhere(findings.map((line) => `${line}\n`).join(''))}`);
  if (verbose && !json) say(redactor.anywhere(summary(answer.report)), options);
  return SUCCEEDED;
}

/** Reports why there is no answer, and returns the exit code. */
function reportError(error: ToolError, options: AskOptions): number {
  const failure = ofFailedCall(error, FAILED, options.redactor);
  const { kind, message, handle } = describe(error, options.tool);
  const details = withoutUndefined({ ...failure.details, outcome: kind, handle });
  reportFailure(options, { code: failure.code, message, details });
  return kind === 'cancelled' ? INTERRUPTED : FAILED;
}

function describe(error: ToolError, tool: string) {
  if (error.kind === 'unknown_tool') return { kind: error.kind, message: unknownToolMessage(tool, error.known ?? []) };
  const { kind } = error;
  const isAnswer = kind === 'answer_failed';
  const answer = isAnswer ? error.error : kind === 'audit_unavailable' || kind === 'unrecorded' ? { kind } : undefined;
  if (answer === undefined) return { kind, message: unknownToolMessage(tool, []) };
  return {
    kind: answer.kind,
    message: messageFor(answer, '--tool=answer_quick'),
    handle: 'handle' in answer ? answer.handle : undefined,
  };
}

/** The duration, model and usage of an answer, in one line. */
function summary({ model, usage, cost, searches, attempts, seconds, rounds, toolCalls }: Answer['report']): string {
  const tokens = usage && `${usage.inputTokens} tokens in (${usage.cachedTokens} cached), ${usage.outputTokens} out`;
  const parts = [
    `${seconds.toFixed(1)} s`,
    model && cleanLine(model),
    count(searches, 'search', 'searches'),
    tokens,
    cost?.microUsd ? `about ${dollars(cost.microUsd, 4)}` : undefined,
    attempts > 1 ? count(attempts, 'request') : undefined,
    rounds === undefined ? undefined : `${count(rounds, 'round')}, ${count(toolCalls?.length ?? 0, 'tool call')}`,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}
