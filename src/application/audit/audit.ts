import { err, type Result } from 'neverthrow';
import { BUILT_IN_SERVER, type CallOrigin } from '../../domain/gateway/call-origin.ts';
import { clip } from '../../domain/values/clean-text.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { type Redactor, redactedValue } from '../../domain/values/redaction.ts';
import { sortedJson } from '../../domain/values/sorted-json.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';

/** How much of the arguments of a call is written, and what happens to calls whose lines cannot be written. */
export interface AuditPolicy {
  readonly arguments: 'none' | 'names' | 'hash' | 'full';
  readonly onFailure: 'refuse' | 'allow';
}

interface AuditOptions extends AuditPolicy {
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** A unique text. */
  readonly newId: () => string;
  /** In hex digits. */
  readonly sha256: (text: string) => string;
}

/** What a caller asked for. Without a server, the tool is one for answers. */
interface AuditedCall {
  readonly server?: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly by: CallOrigin;
}

/** How a call has ended, and what it returned, of which only the size is written. */
interface Ending {
  readonly outcome: string;
  readonly result?: unknown;
}

const MAX_NAME = 200;
const MAX_LINE_BYTES = 64 * 1024;
const WARN_EVERY_MS = 60_000;
const UNAVAILABLE = { kind: 'audit_unavailable' } as const;

/** Writes a line for each call of a tool, before its result leaves the program (rulings T10 and T11). */
export class Audit {
  readonly #options: AuditOptions;
  #warnedMs = Number.NEGATIVE_INFINITY;
  /** How many lines could not be written when they were needed. */
  failures = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** Opens the log, also again. */
  async open(): Promise<void> {
    (await this.#options.log.open()).mapErr((reason) => this.#warn(reason));
  }

  close(): Promise<void> {
    return this.#options.log.close();
  }

  /**
   * Runs a call, and returns its outcome when the line is written; `toEnding` makes undefined of one that gets no line here. `run` gets the call
   * with an origin that notes a refusal by access, and the `id` of the line.
   */
  async record<Call extends AuditedCall, T, E>(
    call: Call,
    run: (call: Call, id: string) => Promise<Result<T, E>>,
    toEnding: (outcome: Result<T, E>) => Ending | undefined,
  ): Promise<Result<T, E | typeof UNAVAILABLE>> {
    const { log, clock, newId, onFailure } = this.#options;
    const startedMs = clock.elapsedMs();
    const begun = { time: clock.now(), id: newId() };
    if (onFailure === 'refuse' && !this.#accepts(await log.ready())) return err(UNAVAILABLE);
    let isDenied = false;
    const onDenied = () => {
      isDenied = true;
      call.by.onDenied?.();
    };
    const write = async ({ outcome, result }: Ending) => {
      const bytes = result === undefined ? undefined : bytesOf(JSON.stringify(result));
      const ms = Math.round(clock.elapsedMs() - startedMs);
      const ended = { outcome: isDenied ? 'denied' : outcome, ms, bytes };
      return this.#accepts(await log.append(this.#toLine(call, begun, ended)));
    };
    try {
      const outcome = await run({ ...call, by: { ...call.by, onDenied } }, begun.id);
      const ending = toEnding(outcome);
      return ending === undefined || (await write(ending)) ? outcome : err(UNAVAILABLE);
    } catch (bug) {
      await write({ outcome: 'internal_error' });
      throw bug;
    }
  }

  #toLine({ server = BUILT_IN_SERVER, tool, args, by }: AuditedCall, begun: object, ended: object): string {
    const { redactor, arguments: shown, sha256 } = this.#options;
    const { requestId: request_id, caller, door, answer, trace } = by;
    const named = (name: string) => clip(redactor.anywhere(name), MAX_NAME);
    const called = { ...begun, request_id, caller, door, answer, server: named(server), tool: named(tool), ...ended };
    const toJson = (args: unknown) => JSON.stringify({ ...called, arguments: args, traceparent: trace?.traceparent });
    const toHashed = () => toJson(`sha256:${sha256(sortedJson(args))}`);
    if (shown === 'hash') return toHashed();
    const names = () => Object.keys(args).sort().map(redactor.anywhere);
    const full = () => redactedValue(args, redactor.inLogs);
    const line = toJson({ none: () => undefined, names, full }[shown]());
    return bytesOf(line) < MAX_LINE_BYTES ? line : toHashed();
  }

  #accepts(written: Result<void, string>): boolean {
    if (written.isOk()) return true;
    this.failures += 1;
    this.#warn(written.error);
    return this.#options.onFailure === 'allow';
  }

  /** At most once per minute. */
  #warn(reason: string): void {
    const { clock, logger, onFailure } = this.#options;
    if (clock.elapsedMs() - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = clock.elapsedMs();
    logger.warn(`audit: the file cannot be written: ${reason} (audit.on_failure: ${onFailure})`);
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
