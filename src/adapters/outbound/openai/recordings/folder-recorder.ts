import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SearchReply } from '../../../../application/ports/llm-search.ts';
import type { Question, ToolName } from '../../../../domain/answers/question.ts';
import { reasonOf } from '../../../../domain/values/certificate-problem.ts';
import { replaceFile } from '../../files/written-files.ts';
import type { ReplyRecorder } from '../attempts.ts';
import type { OpenAiResponsesSearchOptions } from '../openai-responses-search.ts';
import { questionKey } from './question-key.ts';
import { formatRecording, joinRounds, toRecordedBody } from './recording.ts';

type Options = Pick<OpenAiResponsesSearchOptions, 'clock' | 'logger' | 'redactor'> & {
  readonly folder: string;
  /** Whether conversations may be saved, which contain the private outputs of own tools. */
  readonly recordPrivate: boolean;
};

const NOT_RECORDED =
  'grounding: answers that use own tools are not recorded, because they are private (llm.record_private)';

/**
 * Saves good replies in a folder for `--offline=<folder>`. A conversation becomes one recording when it has ended. If a question is asked
 * again, its recording is overwritten.
 */
export function folderRecorder({ folder, recordPrivate, clock, logger, redactor }: Options): ReplyRecorder {
  /** The bodies of rounds in conversations, by the items that the next request repeats. */
  const bodies = new WeakMap<SearchReply['items'], string>();
  let hasWarned = false;

  /** If a reply cannot be saved, the call still succeeds, and a warning is logged. */
  async function save({ query, tool }: Question, body: string): Promise<void> {
    const isStream = !body.trimStart().startsWith('{');
    const question = redactor.anywhere(query);
    const file = join(folder, `${nameOf(question, tool)}.${isStream ? 'sse' : 'json'}`);
    const text = formatRecording(toRecordedBody(body, redactor.anywhere), question, tool, clock.now());
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(file, text, 0o600);
    } catch (error) {
      logger.warn(`the reply could not be recorded in ${folder}: ${reasonOf(error)}`);
    }
  }

  return async ({ question, mode }, { items, calls, text }, body) => {
    const conversation = typeof mode === 'object' ? mode : undefined;
    if (conversation !== undefined && !recordPrivate) {
      if (!hasWarned) logger.warn(NOT_RECORDED);
      hasWarned = true;
      return;
    }
    bodies.set(items, body);
    const isEnd = calls.length === 0 || conversation?.mayCall !== true;
    if (!isEnd || text.trim() === '') return;
    const before = (conversation?.rounds ?? []).map((round) => bodies.get(round.items) ?? '');
    await save(question, joinRounds([...before, body]));
  };
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
