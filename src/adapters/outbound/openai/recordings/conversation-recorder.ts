import type { Turn, TurnRequest } from '../../../../application/ports/llm-turns.ts';
import type { Logger } from '../../../../application/ports/logger.ts';
import type { ReplyRecorder, TurnRecorder } from '../openai-responses-search.ts';
import { joinRounds } from './recording.ts';

interface Options {
  /** Saves a complete conversation. */
  readonly recorder: ReplyRecorder;
  /** Whether answers that use own tools may be saved: they are private. */
  readonly isAllowed: boolean;
  readonly logger: Logger;
}

/** Saves the responses of a conversation as one recording when it has ended, or warns once that it does not (ruling L22). */
export class ConversationRecorder implements TurnRecorder {
  readonly #options: Options;
  /** What the API sent, by the items that the next request repeats. */
  readonly #bodies = new WeakMap<readonly unknown[], string>();
  #hasWarned = false;

  constructor(options: Options) {
    this.#options = options;
  }

  async record(request: TurnRequest, { items, calls, reply }: Turn, body: string): Promise<void> {
    const { recorder, isAllowed } = this.#options;
    if (!isAllowed) {
      this.#warn();
      return;
    }
    this.#bodies.set(items, body);
    const isEnd = calls.length === 0 || !request.mayCall;
    if (!isEnd || reply.text.trim() === '') return;
    const before = request.rounds.map((round) => this.#bodies.get(round.items) ?? '');
    await recorder.record(request, joinRounds([...before, body]));
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.logger.warn(
      'grounding: answers that use own tools are not recorded, because they are private (llm.record_private)',
    );
  }
}
