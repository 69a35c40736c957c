import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { Gateway } from '../../../application/gateway/gateway.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { styled } from '../../../domain/values/terminal-style.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { LOOKUP_NOTE, messageFor } from '../words/error-messages.ts';
import { count } from '../words/plain.ts';
import { type CommandContext, openLine } from './terminal.ts';
import { fitted } from './terminal-lines.ts';

/** One check of the setup. `run` returns what it found, or yields it while the check runs. */
export interface DoctorCheck {
  readonly name: string;
  readonly run: (
    signal: AbortSignal,
  ) => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]> | AsyncIterable<Finding>;
}

/** What a check found. `todo` says what happened and what to do, for a finding without an `error`. */
export interface Finding extends Omit<Check, 'name'> {
  /** The name of the line, if it is not that of the check. */
  readonly name?: string;
  readonly todo?: string;
  /** What is running, each time that it is shown. */
  readonly now?: () => string;
}

/** The servers that checks ask about their tools. */
export type Servers = Pick<Gateway, 'servers' | 'tools' | 'changed' | 'listed' | 'whenStarted'>;

export interface DoctorOptions extends Pick<CommandContext, 'out' | 'hasStyles' | 'columns' | 'ownCommand'> {
  readonly json: boolean;
  readonly redact: (text: string) => string;
  /** Where to show which check is running, since some take seconds; undefined if none does. */
  readonly progress?: Pick<CommandContext, 'err' | 'clock' | 'logger'> | undefined;
}

const CHECKING = 'Checking';
const MARKS = { ok: 'ok', note: 'note', warning: 'WARN', failed: 'FAIL', skipped: 'skip', running: '' } as const;
const COLOURS = {
  ok: 'green',
  note: 'cyan',
  warning: 'yellow',
  failed: 'red',
  skipped: 'bold',
  running: 'bold',
} as const;

type Verdict = keyof typeof MARKS;

/** Such as `7 ok, 1 note, 2 warnings, 1 failed` */
function sumOf(verdicts: readonly Verdict[]): string {
  const of = (verdict: Verdict) => verdicts.filter((one) => one === verdict).length;
  const [notes, warnings, failed, skipped] = [of('note'), of('warning'), of('failed'), of('skipped')];
  return [
    `${of('ok')} ok`,
    notes > 0 && count(notes, 'note'),
    warnings > 0 && count(warnings, 'warning'),
    failed > 0 && `${failed} failed`,
    skipped > 0 && `${skipped} skipped`,
  ]
    .filter(Boolean)
    .join(', ');
}

/**
 * Makes the checks in their order, and prints one line per finding and their sum. The exit code is 0 if nothing failed. Never prints the key. A check of a part
 * that is not configured is undefined.
 */
export async function doctor(
  checks: readonly (DoctorCheck | undefined)[],
  options: DoctorOptions,
  signal: AbortSignal,
): Promise<number> {
  const { json, out, redact, hasStyles = false, columns, ownCommand } = options;
  const printed: { readonly verdict: Verdict; readonly [member: string]: unknown }[] = [];
  let isOk = true;
  for await (const { name, verdict, error, ...finding } of withProgress(findingsOf(checks, signal), options)) {
    if (signal.aborted) return INTERRUPTED;
    // Servers choose the names of their tools, which may contain any text.
    const detail = redact(withoutUnsafeCharacters(finding.detail));
    // A refused lookup of a model is only a warning.
    const advice = error === undefined ? finding.todo : messageFor(error) + (verdict === 'warning' ? LOOKUP_NOTE : '');
    const todo = advice === undefined ? undefined : redact(advice);
    isOk &&= verdict !== 'failed';
    printed.push({ name, verdict, detail, todo });
    const mark = styled(COLOURS[verdict], MARKS[verdict].padEnd(4), hasStyles);
    if (!json) out(`${fitted(`${mark}  ${name}: ${todo ?? detail}`, { columns, ownCommand, hang: 6 })}\n`);
  }
  if (json) out(`${JSON.stringify({ ok: isOk, checks: printed }, undefined, 2)}\n`);
  else out(`${sumOf(printed.map(({ verdict }) => verdict))}\n`);
  return isOk ? SUCCEEDED : FAILED;
}

type NamedFinding = Finding & Pick<Check, 'name'>;

async function* findingsOf(checks: readonly (DoctorCheck | undefined)[], signal: AbortSignal) {
  for (const { name, run } of checks.filter((check) => check !== undefined)) {
    const found = await run(signal);
    for await (const finding of Symbol.asyncIterator in found ? found : [found].flat())
      yield { ...finding, name: finding.name ?? name };
  }
}

/** Shows on a terminal what is running. */
async function* withProgress(findings: AsyncGenerator<NamedFinding>, { json, progress }: DoctorOptions) {
  let running: string | (() => string) = CHECKING;
  for (;;) {
    const line = json || progress === undefined ? undefined : openLine(progress, running);
    const next = await findings.next();
    line?.end();
    if (next.done === true) return;
    const isRunning = next.value.verdict === 'running';
    running = isRunning ? (next.value.now ?? next.value.detail) : CHECKING;
    if (!isRunning) yield next.value;
  }
}

export function ok(detail: string): Finding {
  return { verdict: 'ok', detail };
}

export function withWarnings(detail: string, warnings: readonly string[]): Finding {
  return { verdict: warnings.length > 0 ? 'warning' : 'ok', detail: [detail, ...warnings].join('; ') };
}

/** Completes the finding of a check that sends nothing. */
export const NOT_ASKED = 'not asked (--offline)';
