import type { Gateway } from '../../../application/gateway/gateway.ts';
import {
  type ApprovedTools,
  approve,
  type Difference,
  differences,
  lockText,
  numberOfTools,
} from '../../../domain/gateway/approved-tools.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { isSameJson, sortedJson } from '../../../domain/values/sorted-json.ts';
import { withVisibleCharacters } from '../../../domain/values/visible-characters.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import { approvedMessage, notComparedMessage } from '../words/lock-messages.ts';
import { unwritableFile } from '../words/tool-error-messages.ts';
import type { CommandContext } from './command-context.ts';
import { whenStarted } from './list-tools.ts';

export interface LockOptions extends CommandContext {
  readonly action: 'lock' | 'diff';
  readonly json: boolean;
  /** The path of the file that `gateway.lock` names. */
  readonly file: string;
  /** The approved tools in the file; undefined if it is missing or damaged. */
  readonly approved: ApprovedTools | undefined;
  /** Undefined if no servers are configured. */
  readonly gateway: Pick<Gateway, 'listed' | 'servers' | 'whenStarted'> | undefined;
  /** Replaces the file; rejects if it cannot be written. */
  readonly save: (file: string, text: string) => Promise<void>;
}

/** Approves the tools as they are now (`lock`), or prints how they differ from the approved tools (`diff`). Returns the exit code. */
export async function lockTools(options: LockOptions, signal: AbortSignal): Promise<number> {
  const { gateway, approved, action, file, redactor, out, err, save } = options;
  await whenStarted(options, signal);
  if (signal.aborted) return INTERRUPTED;
  const current = approve(gateway?.listed ?? [], approved);
  const found = action === 'lock' ? [] : differences(approved ?? { servers: {} }, current);
  if (action === 'diff') out(redactor.inLogs(toText(found, options)));
  else {
    try {
      await save(file, lockText(current));
    } catch (error) {
      err.write(unwritableFile(file, reasonOf(error)));
      return FAILED;
    }
    out(approvedMessage(numberOfTools(current), file));
  }
  const unavailable = (gateway?.servers ?? []).filter(({ state }) => state !== 'available');
  for (const { name, lastError } of unavailable) err.write(redactor.inLogs(notComparedMessage(name, lastError)));
  return found.length + unavailable.length > 0 ? FAILED : SUCCEEDED;
}

/** Makes hidden characters visible, except in JSON that a program reads. */
function toText(found: readonly Difference[], { json, isTerminal, redactor }: LockOptions): string {
  const lines = json ? redactedJson({ differences: found }, redactor.inLogs, 2).split('\n') : found.flatMap(describe);
  return lines.map((line) => `${json && !isTerminal ? line : withVisibleCharacters(line)}\n`).join('');
}

function describe({ server, tool, change, before = {}, after = {} }: Difference): readonly string[] {
  const members = change === 'changed' ? [...new Set([...Object.keys(before), ...Object.keys(after)])].sort() : [];
  const linesOf = (mark: string, value: unknown) => {
    const text = typeof value === 'string' ? value : sortedJson(value, 2);
    return value === undefined ? [] : text.split('\n').map((line) => `  ${mark} ${line}`);
  };
  const changes = members
    .filter((member) => !isSameJson(before[member], after[member]))
    .flatMap((member) => [`  ${member}:`, ...linesOf('-', before[member]), ...linesOf('+', after[member])]);
  return [`${change} ${server}/${tool}`, ...changes];
}
