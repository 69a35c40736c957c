import { never } from '../../../application/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';

interface LineWriterOptions {
  readonly clock: Clock;
  readonly stream: {
    write(lines: string): unknown;
    /** How much has not been read yet. */
    readonly writableLength: number;
  };
}

/** How long a line may wait: too short to be noticed by a person who watches the log. */
const DELAY_MS = 20;
const MAX_UNREAD = 1024 * 1024;

/** Writes lines together, because a write for each request would take a tenth of the time of a short call. */
export class LineWriter {
  readonly #options: LineWriterOptions;
  #lines = '';

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Adds a line, with its line end. */
  add(line: string): void {
    if (this.#lines === '') void this.#options.clock.sleep(DELAY_MS, never()).then(() => this.flush());
    this.#lines += line;
  }

  /** Writes what was not written yet. If nobody reads the stream, lines are discarded, because memory would grow. */
  flush(): void {
    const lines = this.#lines;
    const { stream } = this.#options;
    this.#lines = '';
    if (lines !== '' && stream.writableLength < MAX_UNREAD) stream.write(lines);
  }
}
