import type { Clock } from '../../../application/ports/clock.ts';
import type { CommandContext, Terminal } from './command-context.ts';
import { toCells, widthOf } from './terminal-cells.ts';

/** A line for a person, who sees standard error; debug lines would be written into it. */
export function openLine({ err, clock, logger }: CommandContext): LiveLine | undefined {
  return err.isTTY === true && !logger.isDebug ? new LiveLine(err, clock) : undefined;
}

const CLEAR_LINE = '\r\u001B[2K';

/** One line on a terminal that shows the current progress and the elapsed time. `end` removes it. */
export class LiveLine {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #ended = new AbortController();
  #message = '';

  constructor(terminal: Terminal, clock: Clock) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#startedMs = clock.elapsedMs();
    void this.#refresh();
  }

  show(message: string): void {
    this.#message = message;
    this.#draw();
  }

  end(): void {
    this.#ended.abort();
    this.#terminal.write(CLEAR_LINE);
  }

  async #refresh(): Promise<void> {
    while ((await this.#clock.sleep(1000, this.#ended.signal)) === 'elapsed') this.#draw();
  }

  #draw(): void {
    if (this.#ended.signal.aborted) return;
    const elapsed = Math.floor((this.#clock.elapsedMs() - this.#startedMs) / 1000);
    const columns = this.#terminal.columns || 80;
    const cells = toCells(`${elapsed} s  ${this.#message}`);
    const fitting = cells.filter((_, index) => widthOf(cells.slice(0, index + 1)) < columns);
    this.#terminal.write(`${CLEAR_LINE}${fitting.map(({ text }) => text).join('')}`);
  }
}
