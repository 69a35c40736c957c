import type { Gateway } from '../../../application/gateway.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import { isObject, parseJson } from '../../../domain/json.ts';
import { type Redactor, redactedJson } from '../../../domain/redaction.ts';
import { textOf, toPlainResult } from '../../../domain/tool-result.ts';
import { toolErrorMessage } from '../tool-error-messages.ts';
import { LiveLine, type Terminal } from './live-line.ts';

export interface CallToolOptions {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly server: string;
  readonly tool: string;
  /** The text of a JSON object. */
  readonly input: string;
  readonly out: (text: string) => void;
  /** Standard error. */
  readonly err: Terminal;
}

/** Exit codes of `call` (ruling G25). */
const FAILED = 1;
const BAD_USAGE = 2;
const INTERRUPTED = 130;

/** Calls one tool for a person, prints its result and returns the exit code. `signal` aborts on Ctrl-C. */
export async function callTool(options: CallToolOptions, signal: AbortSignal): Promise<number> {
  const { gateway, clock, redactor, server, tool, input, out, err } = options;
  const args = parseJson(input);
  if (!isObject(args)) {
    err.write(`The input must be a JSON object, such as '{"message": "hello"}'.\n`);
    return BAD_USAGE;
  }
  const line = err.isTTY === true ? new LiveLine(err, clock) : undefined;
  line?.show(`${server}/${tool}`);
  const onProgress = ({ progress, total, message }: { progress: number; total?: number; message?: string }) => {
    const count = total === undefined ? String(progress) : `${progress}/${total}`;
    line?.show([`${server}/${tool}`, count, message ?? ''].join(' ').trimEnd());
  };
  const outcome = await gateway.callTool({ server, tool, args, onProgress }, signal);
  line?.end();
  if (outcome.isErr()) {
    const { error } = outcome;
    err.write(`${redactor.inLogs(toolErrorMessage(error))}\n`);
    return error.kind === 'cancelled' ? INTERRUPTED : error.kind === 'unknown_server' ? BAD_USAGE : FAILED;
  }
  if (outcome.value.isError) {
    err.write(`${redactor.inLogs(textOf(outcome.value) || 'The tool reported an error without a text.')}\n`);
    return FAILED;
  }
  const { result, content } = toPlainResult(outcome.value);
  const shown = result === null && content !== undefined ? content : result;
  out(`${typeof shown === 'string' ? redactor.anywhere(shown) : redactedJson(shown, redactor.anywhere, 2)}\n`);
  return 0;
}
