import stringWidth from 'string-width';
import type { Clock } from '../../../application/ports/clock.ts';

/** A terminal, as far as a live line needs it. */
export interface Terminal {
  readonly columns?: number;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\u001B[2K';

/** One line on a terminal that shows what happens now and for how long; `end` leaves no trace of it. */
export class LiveLine {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #ended = new AbortController();
  #words = '';

  constructor(terminal: Terminal, clock: Clock) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#startedMs = clock.elapsedMs();
    void this.#tick();
  }

  show(words: string): void {
    this.#words = words;
    this.#draw();
  }

  end(): void {
    this.#ended.abort();
    this.#terminal.write(CLEAR_LINE);
  }

  async #tick(): Promise<void> {
    while ((await this.#clock.sleep(1000, this.#ended.signal)) === 'elapsed') this.#draw();
  }

  #draw(): void {
    const elapsed = Math.floor((this.#clock.elapsedMs() - this.#startedMs) / 1000);
    const columns = this.#terminal.columns || 80;
    this.#terminal.write(`${CLEAR_LINE}${clip(`${elapsed} s  ${this.#words}`, columns - 1)}`);
  }
}

/** The beginning of a text that fits into so many columns; characters of East Asia and emoji take two. */
function clip(text: string, columns: number): string {
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > columns) break;
    kept += segment;
  }
  return kept;
}
