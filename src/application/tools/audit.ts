import { err, ok, type Result } from 'neverthrow';
import { toUsd } from '../../domain/answers/prices.ts';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import { clip } from '../../domain/values/clean-text.ts';
import { type JsonObject, sortedJson } from '../../domain/values/json.ts';
import { redactedValue } from '../../domain/values/redaction.ts';
import type { AuditLog } from '../ports/callers.ts';
import type { Services } from '../ports/services.ts';
import type { AuditedElicitation } from './call-elicitations.ts';

/** How much of a call's arguments is written, and whether a call is refused if its line cannot be written. */
export interface AuditPolicy {
  readonly arguments: 'none' | 'names' | 'hash' | 'full';
  readonly onFailure: 'refuse' | 'allow';
}

interface AuditOptions extends AuditPolicy, Services {
  readonly log: AuditLog;
  /** Returns a unique text. */
  readonly newId: () => string;
  /** Returns the hash of a text in hex digits. */
  readonly sha256: (text: string) => Promise<string>;
}

/** The call that an audit line describes. */
interface AuditedCall {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly by: CallOrigin;
}

/** The line of a call in progress. */
export interface AuditLine {
  /** The `id` of both lines of the call. */
  readonly id: string;
  /** Writes that the call is about to be sent, so that a line remains if the process is killed after the effect. */
  readonly begin: () => Promise<Result<void, typeof UNAVAILABLE>>;
}

/** The outcome of a call, and its result, of which only the size is written. `isMade`: whether the call may have reached a server or the API. */
interface Ending {
  readonly outcome: string;
  readonly isMade: boolean;
  readonly result?: unknown;
  /** The cost of an answer in micro-dollars, if it is known. */
  readonly microUsd?: number | undefined;
  /** The questions of the server, without their texts. */
  readonly questions?: readonly AuditedElicitation[];
}

const MAX_NAME = 200;
const MAX_LINE_BYTES = 64 * 1024;
/** Maximum number of characters of each value in a line that would be too long. */
const MAX_CUT_VALUE = 1000;
const WARN_EVERY_MS = 60_000;
const UNAVAILABLE = { kind: 'audit_unavailable' } as const;
const UNRECORDED = { kind: 'unrecorded' } as const;

/** Writes a line for each call of a tool before its result leaves the program. A call that may have effects also gets a line before it is sent. */
export class Audit {
  readonly #options: AuditOptions;
  #warnedMs = Number.NEGATIVE_INFINITY;
  /** The number of lines that could not be written in time. */
  failures = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** Opens the log, or opens it again. */
  async open(): Promise<void> {
    (await this.#options.log.open()).mapErr((reason) => this.#warn(reason));
  }

  close(): Promise<void> {
    return this.#options.log.close();
  }

  /** Writes a line about something other than a call, which has already happened. */
  async note(entry: JsonObject): Promise<void> {
    const { log, clock } = this.#options;
    this.#accepts(await log.append(JSON.stringify({ time: clock.now(), ...entry })));
  }

  /** Runs a call, and returns its outcome after its line was written. */
  async record<T, E>(
    call: AuditedCall,
    run: (line: AuditLine) => Promise<Result<T, E>>,
    toEnding: (outcome: Result<T, E>) => Ending,
  ): Promise<Result<T, E | typeof UNAVAILABLE | typeof UNRECORDED>> {
    const { log, clock, newId, onFailure } = this.#options;
    const startedMs = clock.elapsedMs();
    const begun = { time: clock.now(), id: newId() };
    if (onFailure === 'refuse' && !this.#accepts(await log.ready())) return err(UNAVAILABLE);
    const begin = async () => {
      const written = await log.append(await this.#toLine(call, begun, { outcome: 'begun' }));
      return this.#accepts(written) ? ok() : err(UNAVAILABLE);
    };
    const write = async ({ outcome, result, questions, microUsd }: Omit<Ending, 'isMade'>) => {
      const cost_usd = microUsd === undefined ? undefined : toUsd(microUsd);
      const bytes = result === undefined ? undefined : bytesOf(JSON.stringify(result));
      const ms = Math.round(clock.elapsedMs() - startedMs);
      const ended = { outcome, ms, bytes, cost_usd, ...(questions?.length && { questions }) };
      return this.#accepts(await log.append(await this.#toLine(call, begun, ended)));
    };
    try {
      const outcome = await run({ id: begun.id, begin });
      const ending = toEnding(outcome);
      if (await write(ending)) return outcome;
      return err(ending.isMade ? UNRECORDED : UNAVAILABLE);
    } catch (bug) {
      await write({ outcome: 'internal_error' });
      throw bug;
    }
  }

  async #toLine({ server, tool, args, by }: AuditedCall, begun: object, ended: object): Promise<string> {
    const { redactor, arguments: shown, sha256 } = this.#options;
    const { requestId: request_id, caller, door, answer, trace } = by;
    const named = (name: string) => clip(redactor.anywhere(name), MAX_NAME);
    const called = { ...begun, request_id, caller, door, answer, server: named(server), tool: named(tool), ...ended };
    const toJson = (args: unknown, hash?: string) =>
      JSON.stringify({ ...called, arguments: args, arguments_hash: hash, traceparent: trace?.traceparent });
    const hash = async () => `sha256:${await sha256(sortedJson(args))}`;
    if (shown === 'hash') return toJson(await hash());
    const names = () => Object.keys(args).sort().map(redactor.anywhere);
    const full = () => redactedValue(args, redactor.inLogs);
    const line = toJson({ none: () => undefined, names, full }[shown]());
    if (bytesOf(line) < MAX_LINE_BYTES) return line;
    const cut = shown === 'full' ? toJson(withCutValues(full()), await hash()) : line;
    return bytesOf(cut) < MAX_LINE_BYTES ? cut : toJson(await hash());
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

/** Cuts each long value of the arguments to the beginning of its JSON, so that padding in one value does not hide the others. */
function withCutValues(args: JsonObject): JsonObject {
  const cut = (value: unknown) => {
    const json = JSON.stringify(value);
    return json.length <= MAX_CUT_VALUE ? value : clip(json, MAX_CUT_VALUE);
  };
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, cut(value)]));
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
