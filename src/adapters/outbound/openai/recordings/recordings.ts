import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { SearchError } from '../../../../domain/answers/answer-error.ts';
import type { Question } from '../../../../domain/answers/question.ts';
import { questionKey } from './question-key.ts';
import { parseRecording, type Recording } from './recording.ts';

type RecordingFile = Recording & { readonly file: string };

/** The recordings in a folder, found by their question; or one file, which answers every question. */
export class Recordings {
  readonly #path: string;
  #loaded: Result<{ readonly list: readonly RecordingFile[]; readonly answersAll: boolean }, SearchError> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The recording of a question: of the same tool if there is one, else of any tool. */
  find({ query, tool }: Question): Result<RecordingFile, SearchError> {
    this.#loaded ??= load(this.#path);
    return this.#loaded.andThen(({ list, answersAll }) => {
      const key = questionKey(query);
      const same = answersAll
        ? list
        : list.filter(({ question }) => question !== undefined && questionKey(question) === key);
      const found = same.find((recording) => recording.tool === tool) ?? same[0];
      return found === undefined
        ? err<RecordingFile, SearchError>({ kind: 'not_recorded', recorded: questionsOf(list) })
        : ok(found);
    });
  }
}

function load(path: string): Result<{ list: readonly RecordingFile[]; answersAll: boolean }, SearchError> {
  try {
    if (!statSync(path).isDirectory()) return ok({ list: [read(path)], answersAll: true });
    const files = readdirSync(path).filter((name) => /\.(?:json|sse)$/.test(name));
    return ok({ list: files.sort().map((name) => read(join(path, name))), answersAll: false });
  } catch (error) {
    return err({ kind: 'unreadable_recordings', path, detail: (error as NodeJS.ErrnoException).code ?? String(error) });
  }
}

function read(file: string): RecordingFile {
  return { ...parseRecording(readFileSync(file, 'utf8'), file.endsWith('.sse')), file };
}

function questionsOf(list: readonly RecordingFile[]): readonly string[] {
  return [...new Set(list.map(({ question }) => question).filter((question) => question !== undefined))];
}
