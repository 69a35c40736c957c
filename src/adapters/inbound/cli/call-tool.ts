import type { Gateway } from '../../../application/gateway/gateway.ts';
import type { ToolProgress } from '../../../application/ports/tool-server.ts';
import type { CallOrigin } from '../../../domain/gateway/call-origin.ts';
import { textOf, toPlainResult } from '../../../domain/gateway/tool-result.ts';
import { cleanLine, cleanText, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { NO_ERROR_TEXT, onlyCallMessage } from '../words/tool-error-messages.ts';
import type { CommandContext } from './command-context.ts';
import { openLine } from './live-line.ts';

export interface CallToolOptions extends CommandContext {
  readonly by: CallOrigin;
  readonly gateway: Gateway;
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** Calls one tool for a person, prints its result and returns the exit code. `signal` aborts on Ctrl-C. */
export async function callTool(options: CallToolOptions, signal: AbortSignal): Promise<number> {
  const { gateway, by, redactor, server, tool, args, out, err } = options;
  const line = await openLine(options, `Starting ${server}`);
  let hasProgress = false;
  void gateway.whenStarted(Number.POSITIVE_INFINITY, signal).then(() => {
    if (!hasProgress) line?.show(`${server}/${tool}`);
  });
  const show = ({ progress, total, message = '' }: ToolProgress) => {
    hasProgress = true;
    const count = total === undefined ? String(progress) : `${progress}/${total}`;
    line?.show(redactor.inLogs(cleanLine(`${server}/${tool} ${count} ${message}`)));
  };
  const outcome = await gateway.callTool({ server, tool, args, by, onProgress: line && show }, signal);
  line?.end();
  if (outcome.isErr()) {
    const { error } = outcome;
    err.write(`${redactor.inLogs(onlyCallMessage(error))}\n`);
    return error.kind === 'cancelled' ? INTERRUPTED : FAILED;
  }
  if (outcome.value.isError) {
    const text = cleanText(textOf(outcome.value)).trim();
    err.write(`${redactor.anywhere(text || NO_ERROR_TEXT)}\n`);
    return FAILED;
  }
  const { result, content } = toPlainResult(outcome.value);
  const shown = result === null && content !== undefined ? content : result;
  const text = typeof shown === 'string' ? redactor.anywhere(shown) : redactedJson(shown, redactor.anywhere, 2);
  out(`${options.isTerminal ? withoutUnsafeCharacters(text) : text}\n`);
  return SUCCEEDED;
}
