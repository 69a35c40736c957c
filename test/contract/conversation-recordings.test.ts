import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { folderRecorder } from '../../src/adapters/outbound/openai/recordings/folder-recorder.ts';
import { OfflineSearch } from '../../src/adapters/outbound/openai/recordings/offline-search.ts';
import type { LlmSearch, Round, SearchReply } from '../../src/application/ports/llm-search.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import type { ScriptedResponse } from '../support/api-response.ts';
import { fails } from '../support/behaviours.ts';
import { type ConversationItem, calls, reasons, says, searches } from '../support/conversation-items.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { redactorOf } from '../support/redactor.ts';
import { API_KEY, ask, never, ProgressLog, replyOf } from './search-kit.ts';
import { answered, startTurns, turnRequest } from './turn-kit.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-conversations-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const QUESTION = { question: { query: 'What is open?' } };
const FIRST = [reasons('1'), searches('1', 'q', ['https://a.example/']), calls('1', 'jira__search_issues')];
const SECOND = [reasons('2'), says('2', 'Wait.', { phase: 'commentary' }), calls('2', 'wiki__read_page')];
const LAST = [says('3', 'Two issues are open.')];

async function startRecording(recordPrivate: boolean) {
  const logger = new RecordingLogger();
  const redactor = redactorOf(API_KEY);
  const recorder = folderRecorder({ folder, clock: FakeClock.instant(), logger, redactor, recordPrivate });
  const kit = await startTurns({ recorder, logger });
  return { ...kit, logger };
}

/** Runs a conversation to its end. */
async function converse(search: LlmSearch): Promise<readonly SearchReply[]> {
  const done: SearchReply[] = [];
  let rounds: readonly Round[] = [];
  for (;;) {
    const request = turnRequest({ asked: QUESTION, rounds });
    const reply = replyOf(await search.search(request, new ProgressLog(), never()));
    done.push(reply);
    if (reply.calls.length === 0) return done;
    rounds = [...rounds, answered(reply, 'A private text.')];
  }
}

function offline(): LlmSearch {
  const logger = new RecordingLogger();
  return new OfflineSearch({ path: folder, clock: FakeClock.instant(), logger, redactor: createRedactor() });
}

/** What a turn is apart from its report and date. */
const essence = ({ items, calls: asked, text, sources }: SearchReply) => ({ items, asked, text, sources });

test.each<[string, readonly (ScriptedResponse | readonly ConversationItem[])[]]>([
  ['streams', [FIRST, SECOND, LAST]],
  ['streams and bodies in JSON', [{ items: FIRST, isJson: true }, SECOND, { items: LAST, isJson: true }]],
])('an allowed conversation of %s is one file, and gives the same turns offline', async (_what, script) => {
  const { api, search, logger } = await startRecording(true);
  api.script(script);
  const online = await converse(search);
  expect(online).toHaveLength(script.length);
  expect(readdirSync(folder)).toHaveLength(1);
  expect(logger.lines).toEqual([]);
  const again = await converse(offline());
  expect(again.map(essence)).toEqual(online.map(essence));
});

test('the file contains neither instructions nor outputs nor keys', async () => {
  const { api, search } = await startRecording(true);
  api.script([FIRST, LAST]);
  await converse(search);
  const text = readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8');
  expect(text).toContain('Two issues are open.');
  for (const part of ['A private text.', 'Own tools', API_KEY]) expect(text).not.toContain(part);
});

test('what was repeated is recorded once', async () => {
  const { api, search } = await startRecording(true);
  api.script([FIRST, LAST]);
  api.disturb(1, fails({ status: 429 }), fails({ status: 429 }));
  await converse(search);
  expect((await converse(offline())).map(({ text }) => text)).toEqual(['', 'Two issues are open.']);
});

test('a conversation that did not end is not recorded', async () => {
  const { api, search } = await startRecording(true);
  api.script([FIRST, LAST]);
  api.disturb(1, fails({ status: 403 }));
  await expect(converse(search)).rejects.toThrow('forbidden');
  expect(readdirSync(folder)).toEqual([]);
});

test('unless it is allowed, nothing is recorded, with one warning; questions without own tools still are', async () => {
  const { api, search, logger } = await startRecording(false);
  api.script([FIRST, LAST]);
  expect(await converse(search)).toHaveLength(2);
  await converse(search);
  expect(readdirSync(folder)).toEqual([]);
  expect(logger.lines).toEqual([
    'warn grounding: answers that use own tools are not recorded, because they are private (llm.record_private)',
  ]);
  api.script([LAST]);
  expect((await ask(search)).isOk()).toBe(true);
  expect(readdirSync(folder)).toHaveLength(1);
});
