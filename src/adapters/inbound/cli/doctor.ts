import type { Check } from '../../../application/answers/diagnose-setup.ts';
import { never } from '../../../application/async/deadline.ts';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { withoutKeyLike } from '../../../domain/values/redaction.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { LOOKUP_NOTE, messageFor } from '../words/error-messages.ts';
import { messageForProblem } from '../words/process-messages.ts';
import { toCheck } from './check.ts';
import { type CheckedSetup, checksOf, NODE } from './doctor-checks.ts';
import { type OfflineSetup, offlineChecksOf } from './offline-checks.ts';
import type { CommandContext } from './terminal.ts';
import { openLine } from './terminal.ts';

type PrintOptions = Pick<CommandContext, 'out'> & { readonly json: boolean };

export interface DoctorOptions extends CommandContext, CheckedSetup {
  readonly json: boolean;
}

/** A check to print. `todo` says what happened and what to do, for a check without an `error`. */
type PrintedCheck = Check & { readonly todo?: string };

const CHECKING = 'Checking';
const MARKS = { ok: 'ok', note: 'note', warning: 'WARN', failed: 'FAIL', skipped: 'skip', running: '' } as const;

/** Checks the way from this machine to an answer, and prints one line per step. The exit code is 0 if nothing failed. Never prints the key. */
export function doctor(options: DoctorOptions, signal: AbortSignal): Promise<number> {
  return print(withProgress(checksOf(options, signal), options), options, options.redactor.inLogs, signal);
}

/** Checks what needs no request, no key and no server. Prints one line per check; the exit code is 0 if nothing failed. */
export function doctorOffline(
  options: PrintOptions & OfflineSetup & Pick<CommandContext, 'redactor'>,
): Promise<number> {
  return print(offlineChecksOf(options), options, options.redactor.inLogs, never());
}

/** Prints the problems of a configuration that cannot be used, each as a failed check. Returns the exit code. */
export function doctorOnProblems(problems: readonly ConfigProblem[], options: PrintOptions): Promise<number> {
  const invalid = toCheck('configuration', 'failed', 'invalid');
  const failed = problems.map((problem) => ({ ...invalid, todo: messageForProblem(problem) }));
  return print([NODE, ...failed], options, withoutKeyLike, never());
}

/** Shows on a terminal which check is running: some take seconds. */
async function* withProgress(checks: AsyncGenerator<Check>, options: DoctorOptions) {
  let running = CHECKING;
  for (;;) {
    const line = options.json ? undefined : openLine(options, running);
    const next = await checks.next();
    line?.end();
    if (next.done === true) return;
    const isRunning = next.value.verdict === 'running';
    running = isRunning ? next.value.detail : CHECKING;
    if (!isRunning) yield next.value;
  }
}

async function print(
  checks: AsyncIterable<PrintedCheck> | Iterable<PrintedCheck>,
  { json, out }: PrintOptions,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<number> {
  const printed: object[] = [];
  let isOk = true;
  for await (const { name, verdict, error, ...check } of checks) {
    if (signal.aborted) return INTERRUPTED;
    // Servers choose the names of their tools, which may contain any text.
    const detail = redact(withoutUnsafeCharacters(check.detail));
    // A refused lookup of a model is only a warning.
    const advice = error === undefined ? check.todo : messageFor(error) + (verdict === 'warning' ? LOOKUP_NOTE : '');
    const todo = advice === undefined ? undefined : redact(advice);
    isOk &&= verdict !== 'failed';
    printed.push({ name, verdict, detail, todo });
    if (!json) out(`${MARKS[verdict].padEnd(4)}  ${name}: ${todo ?? detail}\n`);
  }
  if (json) out(`${JSON.stringify({ ok: isOk, checks: printed }, undefined, 2)}\n`);
  return isOk ? SUCCEEDED : FAILED;
}
