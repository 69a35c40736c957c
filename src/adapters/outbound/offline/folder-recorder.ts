import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchRequest } from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import type { ToolName } from '../../../domain/tool-name.ts';
import type { ReplyRecorder } from '../openai/openai-responses-search.ts';
import { questionKey } from './question-key.ts';
import { formatRecording } from './recording.ts';

export interface FolderRecorderOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}

/** Writes each good reply into a folder that `--offline=` reads. The same question overwrites its recording. */
export class FolderRecorder implements ReplyRecorder {
  readonly #options: FolderRecorderOptions;

  constructor(options: FolderRecorderOptions) {
    this.#options = options;
  }

  /** A reply that cannot be kept is still an answer: the fault is logged, not thrown. */
  async record({ question }: SearchRequest, body: string): Promise<void> {
    const { folder, clock, logger, redactor } = this.#options;
    const isStream = !body.trimStart().startsWith('{');
    const query = redactor.anywhere(question.query);
    const file = join(folder, `${nameOf(query, question.tool)}.${isStream ? 'sse' : 'json'}`);
    const text = formatRecording(withoutInstructions(redactor.anywhere(body)), query, question.tool, clock.now());
    const unfinished = `${file}.${process.pid}.part`;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(unfinished, text, { mode: 0o600 });
      await rename(unfinished, file);
    } catch (error) {
      logger.warn(
        `the reply could not be recorded in ${folder}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
      );
    }
  }
}

/** The API repeats the system policy three times; it is the user's own, and no part of the reply. */
function withoutInstructions(body: string): string {
  return body.replace(/"instructions"\s*:\s*"(?:[^"\\]|\\.)*"/g, '"instructions":null');
}

/** A name that a person can read, made unique by what tells questions apart. */
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
