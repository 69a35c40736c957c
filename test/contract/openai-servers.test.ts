import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sendsBody } from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { answerOf, apiPerTest, ask, openAiSearch, replyOf, searchRequest } from './search-kit.ts';

/** A conversation with a server: its replies in order, the last of which is an answer. Made from documentation, as `origin` says. */
interface Played {
  readonly server: string;
  readonly replies: readonly {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }[];
  readonly expected: {
    readonly leftOut: readonly string[];
    readonly waits: readonly number[];
    readonly citations: readonly string[];
  };
}

const FOLDER = 'test/fixtures/servers';
const PLAYED = readdirSync(FOLDER).map((file) => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Played);

const api = apiPerTest();

test.each(PLAYED)('$server answers', async ({ replies, expected }) => {
  const clock = FakeClock.instant();
  const toBehaviour = ({ status, headers, body }: Played['replies'][number]) =>
    sendsBody({ status, headers, contentType: headers['content-type'] ?? 'application/json', body });
  api.reply(...replies.map(toBehaviour));
  const request = searchRequest();
  const outcome = await ask(openAiSearch(api.url, { clock }), request);
  expect(replyOf(outcome).report.attempts).toBe(replies.length);
  const { answer, citations } = answerOf(outcome, request)._unsafeUnwrap();
  expect(answer).toContain('The tower has 42 steps.');
  expect(answer).not.toContain('†');
  expect(citations.map(({ url }) => url)).toEqual(expected.citations);
  expect(clock.slept).toEqual(expected.waits);
  const [first = {}, last = {}] = [api.requests[0]?.body, api.requests.at(-1)?.body];
  expect(Object.keys(first).filter((name) => !(name in last))).toEqual(expected.leftOut);
});

test('the table of servers has a row for each conversation, and no other', () => {
  const page = readFileSync('docs/reference/answers.md', 'utf8').split('## Other servers')[1] ?? '';
  const rows = [...page.matchAll(/^\| ([A-Z]\w*(?: \w+)?|xAI|vLLM) \|/gm)].map(([, name]) => name);
  expect(rows.toSorted()).toEqual(PLAYED.map(({ server }) => server).toSorted());
});
