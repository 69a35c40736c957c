import type { SearchProgress } from '../../../application/ports/llm-search.ts';
import type { Services } from '../../../application/ports/services.ts';
import type { ToolProgress } from '../../../application/ports/tool-server.ts';
import type { CallEvent } from '../../../application/tools/tool-call.ts';
import type { Language } from '../../../domain/answers/question.ts';
import { clip } from '../../../domain/values/clean-text.ts';
import { progressMessage } from '../words/mcp-messages.ts';
import { WAITS } from '../words/tool-error-messages.ts';
import type { Send } from './tool-set.ts';

interface ProgressReporterOptions extends Pick<Services, 'clock'> {
  readonly token: string | number;
  readonly language: Language;
  readonly notify: Send;
}

interface CallProgressOptions extends ProgressReporterOptions, Pick<Services, 'redactor'> {
  readonly server: string;
}

/** Reports the progress of one call to its client: that of a server as it comes, that of an answer with a `ProgressReporter`. */
export class CallProgress {
  readonly #options: CallProgressOptions;
  readonly #answer: ProgressReporter;
  #hasBegun = false;
  /** When the last message was sent. */
  sentMs = Number.NEGATIVE_INFINITY;

  constructor(options: CallProgressOptions) {
    this.#options = options;
    this.#answer = new ProgressReporter(options);
  }

  on(event: CallEvent): void {
    switch (event.kind) {
      case 'starting':
      case 'waiting':
        // Progress must increase, and that of the server may begin with any number above 0.
        this.#send({ progress: this.#hasBegun ? Number.EPSILON : 0, message: WAITS[event.kind](this.#options.server) });
        this.#hasBegun = true;
        break;
      case 'progress':
        // MCP requires that progress increases, and it began with 0.
        if (!this.#hasBegun || event.progress.progress > 0) this.#send(event.progress);
        break;
      case 'searching':
        this.#answer.onProgress(event.progress);
        break;
      default:
    }
  }

  /** Reports pending steps. */
  finish(): void {
    if (this.#answer.finish()) this.sentMs = this.#options.clock.elapsedMs();
  }

  stop(): void {
    this.#answer.stop();
  }

  #send({ message, ...progress }: ToolProgress): void {
    const { token: progressToken, clock, redactor, notify } = this.#options;
    this.sentMs = clock.elapsedMs();
    const params = { ...progress, message: message && redactor.inLogs(message), progressToken };
    notify({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }
}

const MIN_INTERVAL_MS = 1000;
/** Clients with an idle timeout keep waiting if they get something at least this often. */
const MAX_INTERVAL_MS = 10_000;
const MAX_LENGTH = 200;

/**
 * Reports progress as `notifications/progress`: the first at once, then at most one per second and at least one per ten
 * seconds. Searches, opened pages, calls of own tools, rounds and the latest retry are never dropped: pending ones are
 * joined into one message.
 */
export class ProgressReporter {
  readonly #options: ProgressReporterOptions;
  readonly #startedMs: number;
  #pending: SearchProgress[] = [];
  #state: SearchProgress = { kind: 'asking' };
  #isStateReported = true;
  #sentCount = 0;
  #sentMs = 0;
  #isStopped = false;
  #cancelTimer: (() => void) | undefined;

  constructor(options: ProgressReporterOptions) {
    this.#options = options;
    this.#startedMs = options.clock.elapsedMs();
  }

  onProgress(progress: SearchProgress): void {
    if (this.#isStopped) return;
    const hadNews = this.#hasNews;
    const isRetry = progress.kind === 'retrying';
    if (isRetry) this.#pending = this.#pending.filter(({ kind }) => kind !== 'retrying');
    const isStarting = isStart(progress);
    if (isRetry || isStarting || isStep(progress)) this.#pending.push(progress);
    else this.#isStateReported = false;
    if (isStarting) this.#isStateReported = true;
    if (!isStep(progress)) this.#state = progress;
    if (this.#sentCount === 0) this.#send();
    else if (!hadNews) this.#schedule();
  }

  /** Reports pending steps and stops. Returns whether there were any. */
  finish(): boolean {
    const hasPending = !this.#isStopped && this.#pending.length > 0;
    while (!this.#isStopped && this.#pending.length > 0) this.#send();
    this.stop();
    return hasPending;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  get #hasNews(): boolean {
    return this.#pending.length > 0 || !this.#isStateReported;
  }

  #schedule(): void {
    const { clock } = this.#options;
    const dueMs = this.#sentMs + (this.#hasNews ? MIN_INTERVAL_MS : MAX_INTERVAL_MS);
    this.#cancelTimer?.();
    this.#cancelTimer = clock.after(dueMs - clock.elapsedMs(), () => this.#send());
  }

  #send(): void {
    const { token, clock, notify } = this.#options;
    const message = this.#pending.length > 0 ? this.#takeSteps() : this.#stateMessage();
    this.#sentCount += 1;
    this.#sentMs = clock.elapsedMs();
    const params = { progressToken: token, progress: this.#sentCount, message };
    notify({ jsonrpc: '2.0', method: 'notifications/progress', params });
    this.#schedule();
  }

  /** Removes as many pending steps as fit into one message, and returns this message. */
  #takeSteps(): string {
    const messages = this.#pending.map((step) => clip(progressMessage(step, this.#options.language), MAX_LENGTH));
    let count = 1;
    const joined = (count: number) => messages.slice(0, count).join(' · ');
    while (count < messages.length && joined(count + 1).length <= MAX_LENGTH) count += 1;
    this.#pending = this.#pending.slice(count);
    return joined(count);
  }

  /** A repeated message says for how long the call has been running. */
  #stateMessage(): string {
    this.#isStateReported = true;
    const message = progressMessage(this.#state, this.#options.language);
    const elapsed = Math.round((this.#options.clock.elapsedMs() - this.#startedMs) / 1000);
    return clip(elapsed === 0 ? message : `${message} · ${elapsed} s`, MAX_LENGTH);
  }
}

/** Whether the progress is a finished search or call, or an opened page, as opposed to an activity. */
function isStep(progress: SearchProgress): boolean {
  const { kind } = progress;
  return kind === 'opened_page' || kind === 'called' || (kind === 'searching' && progress.query !== undefined);
}

/** Whether the progress is an activity that is reported even if it is short. */
function isStart(progress: SearchProgress): boolean {
  return progress.kind === 'calling' || (progress.kind === 'asking' && progress.round !== undefined);
}
