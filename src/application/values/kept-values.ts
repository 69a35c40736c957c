import { err, ok, type Result } from 'neverthrow';
import type { Redactor } from '../../domain/values/redaction.ts';
import type { ValueFailure } from '../../domain/values/value-failure.ts';
import { untilAborted } from '../async/deadline.ts';
import type { ValueReader, ValueReference } from '../ports/values.ts';

/** A value as it was read. Another read of the same reference makes another object. */
export interface KeptValue {
  readonly text: string;
}

export type ReadValue = Result<KeptValue, ValueFailure>;

interface Options {
  readonly reader: ValueReader;
  readonly redactor: Pick<Redactor, 'learnLatest'>;
  /** The forms in which a secret is written. */
  readonly formsOf: (secret: string) => readonly string[];
}

/** Shorter values are ordinary words and numbers, which masking would remove from texts. */
const SHORTEST_SECRET = 8;

/** The values of files and commands. Each is read when it is first needed, once for all who wait for it, and kept in memory. */
export class KeptValues {
  readonly #options: Options;
  readonly #kept = new Map<string, KeptValue>();
  readonly #reads = new Map<string, Promise<ReadValue>>();
  readonly #closed = new AbortController();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The kept value, or the value as it is now. */
  async read(reference: ValueReference, signal: AbortSignal): Promise<ReadValue> {
    const kept = this.#kept.get(JSON.stringify(reference));
    return kept === undefined ? this.#readNow(reference, signal) : ok(kept);
  }

  /** The value as it is now, unless it was already read again after `used`. Without `used`, it is always read. */
  async renew(reference: ValueReference, used: KeptValue | undefined, signal: AbortSignal): Promise<ReadValue> {
    const kept = this.#kept.get(JSON.stringify(reference));
    return kept === undefined || used === undefined || kept === used ? this.#readNow(reference, signal) : ok(kept);
  }

  /** Ends the commands that are running. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#reads.values());
  }

  async #readNow(reference: ValueReference, signal: AbortSignal): Promise<ReadValue> {
    const key = JSON.stringify(reference);
    const running = this.#reads.get(key) ?? this.#start(key, reference);
    const read = await untilAborted(running, signal);
    return read === 'aborted' ? err({ kind: 'aborted' }) : read;
  }

  #start(key: string, reference: ValueReference): Promise<ReadValue> {
    const { reader, redactor, formsOf } = this.#options;
    const toKept = (text: string): KeptValue => {
      const known = this.#kept.get(key);
      // Those who compare values see at once that it is the same one.
      if (known?.text === text) return known;
      if (text.length >= SHORTEST_SECRET) redactor.learnLatest(key, formsOf(text));
      const kept = { text };
      this.#kept.set(key, kept);
      return kept;
    };
    const running = reader
      .read(reference, this.#closed.signal)
      .then((read) => read.map(toKept))
      .finally(() => this.#reads.delete(key));
    this.#reads.set(key, running);
    return running;
  }
}
