import { err, ok, type Result } from 'neverthrow';
import { readText } from '../../src/adapters/outbound/texts/readings.ts';
import { READING_MS, type Readings, type TextReader, type Unread } from '../../src/application/ports/readers.ts';
import type { Clock } from '../../src/application/ports/services.ts';

/** Reads texts at once and in this thread; `unread` are parts of texts that cannot be read. With a clock, texts of more than 100,000 characters take for ever. */
export class FakeTextReader implements TextReader {
  readonly #unread: Readonly<Record<string, Unread['kind']>>;
  readonly #clock: Clock | undefined;

  constructor(unread: Readonly<Record<string, Unread['kind']>> = {}, clock?: Clock) {
    this.#unread = unread;
    this.#clock = clock;
  }

  async read<Name extends keyof Readings>(
    reading: Name,
    input: Parameters<Readings[Name]>,
    _caller: string,
    signal: AbortSignal,
  ): Promise<Result<ReturnType<Readings[Name]>, Unread>> {
    const text = JSON.stringify(input);
    const [, unread] = Object.entries(this.#unread).find(([part]) => text.includes(part)) ?? [];
    if (unread !== undefined) return err({ kind: unread });
    if (
      this.#clock !== undefined &&
      text.length > 100_000 &&
      (await this.#clock.sleep(READING_MS, signal)) === 'elapsed'
    )
      return err({ kind: 'too_slow' });
    if (signal.aborted) return err({ kind: 'cancelled' });
    return ok(readText({ reading, input }) as ReturnType<Readings[Name]>);
  }
}
