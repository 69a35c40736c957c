import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../src/application/async/deadline.ts';
import type { ValueReader, ValueReference } from '../../src/application/ports/values.ts';
import type { ValueFailure } from '../../src/domain/values/value-failure.ts';

/** Values by the path of a file, or by the words of a command. A list has one value for each read, and the last one for all later reads. */
type Values = Readonly<Record<string, string | readonly string[]>>;

/** Reads values that a test gives, when the test lets it. Anything else is missing. */
export class FakeValueReader implements ValueReader {
  readonly reads: ValueReference[] = [];
  readonly #values: Values;
  readonly #turn: Promise<unknown>;
  readonly #counts = new Map<string, number>();

  /** `turn`: what each read waits for. */
  constructor(values: Values = {}, turn: Promise<unknown> = Promise.resolve()) {
    this.#values = values;
    this.#turn = turn;
  }

  async read(reference: ValueReference, signal: AbortSignal): Promise<Result<string, ValueFailure>> {
    this.reads.push(reference);
    if ((await untilAborted(this.#turn, signal)) === 'aborted' || signal.aborted) return err({ kind: 'aborted' });
    const name = reference.kind === 'file' ? reference.path : reference.words.join(' ');
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    const values = Object.hasOwn(this.#values, name) ? [this.#values[name] ?? []].flat() : [];
    const value = values[Math.min(count, values.length - 1)];
    if (value === undefined) return err(missing(reference));
    const text = value.replace(/\r?\n$/, '');
    return text.trim() === '' ? err(empty(reference)) : ok(text);
  }
}

function missing(reference: ValueReference): ValueFailure {
  return reference.kind === 'file'
    ? { kind: 'unreadable', path: reference.path, reason: 'ENOENT' }
    : { kind: 'not_started', command: reference.words[0] ?? '', code: 'ENOENT' };
}

function empty(reference: ValueReference): ValueFailure {
  return reference.kind === 'file'
    ? { kind: 'empty', path: reference.path }
    : { kind: 'no_output', command: reference.words[0] ?? '', code: '0' };
}
