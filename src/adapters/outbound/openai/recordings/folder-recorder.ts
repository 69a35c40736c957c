import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SearchReply, SearchRequest } from '../../../../application/ports/llm-search.ts';
import type { ToolName } from '../../../../domain/answers/tool-name.ts';
import type { OpenAiResponsesSearchOptions, ReplyRecorder } from '../openai-responses-search.ts';
import { questionKey } from './question-key.ts';
import { formatRecording, joinRounds, toRecordedBody } from './recording.ts';

type Options = Pick<OpenAiResponsesSearchOptions, 'clock' | 'logger' | 'redactor'> & {
  readonly folder: string;
  /** Whether conversations may be saved: what own tools returned is private. */
  readonly recordPrivate: boolean;
};

const NOT_RECORDED =
  'grounding: answers that use own tools are not recorded, because they are private (llm.record_private)';

/**
 * Saves good replies in a folder for `--offline=<folder>`, and a conversation as one recording when it has ended (ruling L22). The same
 * question overwrites its recording.
 */
export class FolderRecorder implements ReplyRecorder {
  readonly #options: Options;
  /** What the API sent in the rounds of conversations, by the items that the next request repeats. */
  readonly #bodies = new WeakMap<SearchReply['items'], string>();
  #hasWarned = false;

  constructor(options: Options) {
    this.#options = options;
  }

  async record(request: SearchRequest, { items, calls, text }: SearchReply, body: string): Promise<void> {
    const { conversation } = request;
    if (conversation !== undefined && !this.#options.recordPrivate) {
      if (!this.#hasWarned) this.#options.logger.warn(NOT_RECORDED);
      this.#hasWarned = true;
      return;
    }
    this.#bodies.set(items, body);
    const isEnd = calls.length === 0 || conversation?.mayCall !== true;
    if (!isEnd || text.trim() === '') return;
    const before = (conversation?.rounds ?? []).map((round) => this.#bodies.get(round.items) ?? '');
    await this.#save(request, joinRounds([...before, body]));
  }

  /** If a reply cannot be saved, the call still succeeds, and a warning is logged. */
  async #save({ question }: SearchRequest, body: string): Promise<void> {
    const { folder, clock, logger, redactor } = this.#options;
    const isStream = !body.trimStart().startsWith('{');
    const query = redactor.anywhere(question.query);
    const file = join(folder, `${nameOf(query, question.tool)}.${isStream ? 'sse' : 'json'}`);
    const text = formatRecording(toRecordedBody(body, redactor.anywhere), query, question.tool, clock.now());
    const unfinished = `${file}.${randomUUID()}.part`;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(unfinished, text, { mode: 0o600 });
      await rename(unfinished, file);
    } catch (error) {
      // On a full disk, what was written would stay.
      await rm(unfinished, { force: true }).catch(() => {});
      logger.warn(
        `the reply could not be recorded in ${folder}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
      );
    }
  }
}

/** A readable name, made unique by a hash of the tool and the normalized question. */
function nameOf(query: string, tool: ToolName): string {
  const words = query
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256')
    .update(`${tool}\n${questionKey(query)}`)
    .digest('hex')
    .slice(0, 8);
  return [tool, words, hash].filter((part) => part !== '').join('-');
}
