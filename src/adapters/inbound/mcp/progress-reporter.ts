import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchObserver, SearchProgress } from '../../../application/ports/llm-search.ts';
import type { Language } from '../../../domain/language.ts';
import { progressWords } from '../progress-words.ts';
import type { OutgoingMessage } from './json-rpc.ts';

export type ProgressToken = string | number;

export interface ProgressReporterOptions {
  readonly token: ProgressToken;
  readonly language: Language;
  readonly clock: Clock;
  readonly send: (message: OutgoingMessage) => void;
}

const SHORTEST_GAP_MS = 1000;
/** Clients with idle timers stay if they hear something at least this often. */
const LONGEST_GAP_MS = 10_000;
const LONGEST_LINE = 200;

/**
 * Tells a client what happens during its call, as `notifications/progress`: the first at once, then at most one a second
 * and at least one every ten. Searches, opened pages and retries are never dropped: what waits is joined into the next line.
 */
export class ProgressReporter implements SearchObserver {
  readonly #options: ProgressReporterOptions;
  readonly #startedMs: number;
  /** What must be told, in words. */
  #facts: string[] = [];
  /** What happens now; only the latest counts. */
  #state: SearchProgress = { kind: 'asking' };
  #isStateNew = false;
  #hasNews = false;
  #sent = 0;
  #sentMs = 0;
  #isOver = false;
  #wake = new AbortController();

  constructor(options: ProgressReporterOptions) {
    this.#options = options;
    this.#startedMs = options.clock.elapsedMs();
  }

  onProgress(progress: SearchProgress): void {
    if (this.#isOver) return;
    if (isFact(progress)) this.#facts.push(clip(progressWords(progress, this.#options.language)));
    if (!isFact(progress) || progress.kind === 'retrying') this.#state = progress;
    if (!isFact(progress)) this.#isStateNew = true;
    if (this.#sent === 0) {
      this.#sendNext();
      void this.#run();
    } else if (!this.#hasNews) {
      this.#hasNews = true;
      this.#wake.abort();
    }
  }

  /** The answer comes next: tells what still waits, and nothing after it. Gives back whether there was any. */
  finish(): boolean {
    const hasFacts = !this.#isOver && this.#facts.length > 0;
    while (!this.#isOver && this.#facts.length > 0) this.#sendNext();
    this.stop();
    return hasFacts;
  }

  /** Nothing more is told. */
  stop(): void {
    this.#isOver = true;
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#isOver) {
      const dueMs = this.#sentMs + (this.#hasNews ? SHORTEST_GAP_MS : LONGEST_GAP_MS);
      const leftMs = dueMs - clock.elapsedMs();
      if (leftMs <= 0) {
        this.#sendNext();
      } else {
        this.#wake = new AbortController();
        await clock.sleep(Math.ceil(leftMs), this.#wake.signal);
      }
    }
  }

  #sendNext(): void {
    const { token, clock, send } = this.#options;
    const message = this.#facts.length > 0 ? this.#takeFacts() : this.#stateLine();
    this.#hasNews = this.#facts.length > 0 || this.#isStateNew;
    this.#sent += 1;
    this.#sentMs = clock.elapsedMs();
    const params = { progressToken: token, progress: this.#sent, message };
    send({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }

  /** As many facts as fit on a line; the others wait for the next. */
  #takeFacts(): string {
    let line = this.#facts.shift() ?? '';
    while (this.#facts[0] !== undefined && `${line} · ${this.#facts[0]}`.length <= LONGEST_LINE) {
      line = `${line} · ${this.#facts.shift()}`;
    }
    return line;
  }

  /** A line that says the same again says for how long. */
  #stateLine(): string {
    this.#isStateNew = false;
    const words = progressWords(this.#state, this.#options.language);
    const elapsed = Math.round((this.#options.clock.elapsedMs() - this.#startedMs) / 1000);
    return clip(elapsed === 0 ? words : `${words} · ${elapsed} s`);
  }
}

function isFact(progress: SearchProgress): boolean {
  return (
    progress.kind === 'opened_page' ||
    progress.kind === 'retrying' ||
    (progress.kind === 'searching' && progress.query !== undefined)
  );
}

function clip(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  return `${line.slice(0, LONGEST_LINE - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
