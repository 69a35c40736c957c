import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { Gateway } from '../../../application/gateway/gateway.ts';
import type { CallEvent } from '../../../application/tools/tool-call.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import type { CallOrigin } from '../../../domain/gateway/call-origin.ts';
import type { Asker } from '../../../domain/gateway/elicitation.ts';
import { textOf, toPlainResult } from '../../../domain/gateway/tool-result.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { cleanLine, cleanText, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { messageFor } from '../words/error-messages.ts';
import {
  NO_ERROR_TEXT,
  NO_OBJECT,
  onlyCallMessage,
  toolErrorCode,
  unreadableFile,
} from '../words/tool-error-messages.ts';
import type { CommandContext } from './terminal.ts';
import { openLine } from './terminal.ts';

export interface CallToolOptions extends CommandContext {
  readonly by: CallOrigin;
  readonly gateway: Gateway | undefined;
  readonly catalogue: Pick<ToolCatalogue, 'call'>;
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Asks the person at the terminal what the server wants to know. Absent in a script. */
  readonly asker?: Asker | undefined;
  /** Prints `result` or `error`, as `POST /mcp/call` returns them. */
  readonly json: boolean;
}

/** Calls one tool for a person, prints its result and returns the exit code. `signal` aborts on Ctrl-C. */
export async function callAndPrint(options: CallToolOptions, signal: AbortSignal): Promise<number> {
  const { gateway, catalogue, by, asker, redactor, server, tool, args, json, out, err } = options;
  const line = openLine(options, `Starting ${server}`);
  let hasProgress = false;
  void gateway?.whenStarted(Number.POSITIVE_INFINITY, signal).then(() => {
    if (!hasProgress) line?.show(`${server}/${tool}`);
  });
  const on = (event: CallEvent) => {
    if (event.kind !== 'progress') return;
    hasProgress = true;
    const { progress, total, message = '' } = event.progress;
    const count = total === undefined ? String(progress) : `${progress}/${total}`;
    line?.show(redactor.inLogs(cleanLine(`${server}/${tool} ${count} ${message}`)));
  };
  const print = (value: unknown) => {
    const text = typeof value === 'string' ? redactor.anywhere(value) : redactedJson(value, redactor.anywhere, 2);
    out(`${options.isTerminal ? withoutUnsafeCharacters(text) : text}\n`);
  };
  const fail = (code: string, message: string, returned: object = {}) => {
    if (json) print({ error: { code, message }, ...returned });
    err.write(`${message}\n`);
    return FAILED;
  };
  const call = { server, tool, args, by, wantsProgress: line !== undefined, waitsForStart: true, asker, on };
  const outcome = await catalogue.call(call, signal);
  line?.end();
  if (outcome.isErr()) {
    const { error } = outcome;
    const isAnswer = error.kind === 'answer_failed';
    const message = isAnswer ? messageFor(error.error) : onlyCallMessage(error, options.ownCommand);
    const code = fail(isAnswer ? 'TOOL_EXECUTION_ERROR' : toolErrorCode(error), redactor.inLogs(message));
    if (error.kind === 'unknown_server') return BAD_USAGE;
    return error.kind === 'cancelled' ? INTERRUPTED : code;
  }
  const { content, structuredContent, isError } = outcome.value;
  if (isError) {
    const text = cleanText(textOf(outcome.value)).trim();
    return fail('TOOL_EXECUTION_ERROR', redactor.anywhere(text || NO_ERROR_TEXT), { content, structuredContent });
  }
  const plain = toPlainResult(outcome.value);
  print(json ? plain : plain.result === null ? (plain.content ?? null) : plain.result);
  return SUCCEEDED;
}

/** Reads the input of a call: JSON, `@` and the path of a file, or `-` for standard input. The error is a message. */
export async function readInput(input: string, signal: AbortSignal): Promise<Result<JsonObject, string>> {
  let json = input;
  try {
    if (input === '-') json = await untilAborted(text(process.stdin), signal);
    else if (input.startsWith('@')) json = readFileSync(input.slice(1), 'utf8');
  } catch (error) {
    return err(unreadableFile(input.slice(1), reasonOf(error)));
  }
  const args = parseJson(json);
  return isObject(args) ? ok(args) : err(NO_OBJECT);
}
