import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OfflineSearch } from '../../src/adapters/outbound/openai/recordings/offline-search.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { errorOf, never, ProgressLog, searchRequest } from './search-kit.ts';

const EXAMPLE = readFileSync(fileURLToPath(new URL('../../examples/grounded.sse', import.meta.url)), 'utf8');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-conversation-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** The turn that a recording contains for a round. */
function turn(recording: string, round: number) {
  const file = join(folder, 'recording.sse');
  writeFileSync(file, recording);
  const search = new OfflineSearch({
    path: file,
    clock: FakeClock.instant(),
    logger: new RecordingLogger(),
    redactor: createRedactor(),
  });
  const rounds = Array.from({ length: round }, () => ({ items: [], outputs: [] }));
  const mode = { functions: [], mayCall: true, web: 'open', rounds } as const;
  return search.search({ ...searchRequest(), mode }, new ProgressLog(), never());
}

test('each round of the example is replayed in its turn', async () => {
  const [first, second] = [await turn(EXAMPLE, 0), await turn(EXAMPLE, 1)].map((turn) => turn._unsafeUnwrap());
  expect(first?.calls).toMatchObject([{ name: 'notes__search_notes', arguments: '{"word":"deploy"}' }]);
  expect(first?.text).toBe('');
  expect(second?.calls).toEqual([]);
  expect(second).toMatchObject({ accessedOn: '2026-11-20', text: expect.stringContaining('on Tuesdays') });
});

test('without a date in a response, the day is that of the recording', async () => {
  const undated = EXAMPLE.replaceAll(/"created_at":\d+/g, '"created_at":null');
  expect((await turn(undated, 1))._unsafeUnwrap().accessedOn).toBe('2026-11-20');
});

test('a recording with too few rounds is reported as such, and not as a failed connection', async () => {
  const cut = EXAMPLE.slice(0, EXAMPLE.lastIndexOf('event: response.completed'));
  for (const [recording, round] of [
    [EXAMPLE, 2],
    [cut, 1],
  ] as const) {
    const error = errorOf(await turn(recording, round));
    expect(error).toMatchObject({ kind: 'unreadable_recordings', path: join(folder, 'recording.sse') });
  }
});
