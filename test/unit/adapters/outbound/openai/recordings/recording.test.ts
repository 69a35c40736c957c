import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatRecording,
  joinRounds,
  parseRecording,
  roundIn,
} from '../../../../../../src/adapters/outbound/openai/recordings/recording.ts';
import { TOOL_NAMES } from '../../../../../../src/domain/answers/question.ts';

const STREAM = 'event: response.created\ndata: {"type":"response.created"}\n\n';
const REPLY = '{"object":"response","output":[]}';
const AT = new Date('2026-01-05T03:00:00Z');

describe('writing', () => {
  test('puts the question above a stream', () => {
    expect(formatRecording(STREAM, 'What is\nMCP?', 'answer', AT)).toBe(
      `: question: What is MCP?\n: tool: answer\n: recorded_at: 2026-01-05T03:00:00.000Z\n\n${STREAM}`,
    );
  });

  test('puts the question into a JSON body', () => {
    expect(JSON.parse(formatRecording(REPLY, 'What is MCP?', 'answer_quick', AT))).toEqual({
      recording: { question: 'What is MCP?', tool: 'answer_quick', recorded_at: '2026-01-05T03:00:00.000Z' },
      object: 'response',
      output: [],
    });
  });
});

describe('reading', () => {
  test.each([
    ['CRLF', `: question: q\r\n: tool: answer\r\n\r\n${STREAM}`],
    ['a byte order mark', `\uFEFF: question: q\n: tool: answer\n\n${STREAM}`],
    ['comments in another order', `: tool: answer\n: question: q\n\n${STREAM}`],
  ])('accepts %s', (_, text) => {
    expect(parseRecording(text)).toMatchObject({ question: 'q', tool: 'answer' });
  });

  test('accepts a stream without a question, and one of an unknown tool', () => {
    expect(parseRecording(STREAM)).toEqual({ body: STREAM, status: 200 });
    expect('tool' in parseRecording(`: question: q\n: tool: search\n\n${STREAM}`)).toBe(false);
  });

  test.each([
    ['a reply', REPLY, 200],
    ['a reply that failed', '{"object":"response","status":"failed","error":{"code":"server_error"}}', 200],
    ['a bad request', '{"error":{"type":"invalid_request_error"}}', 400],
    ['an error that contains its status', '{"status":403,"error":{"code":"unsupported_country"}}', 403],
  ])('gives %s its status', (_, body, status) => {
    expect(parseRecording(body)).toEqual({ body, status });
  });

  test.each(['', 'null', '{"recording":7}'])('does not fail on %j', (body) => {
    expect(parseRecording(body)).toMatchObject({ body });
  });
});

test('any question can be written and read again', () => {
  const question = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .map((text) => text.trim())
    .filter((text) => text !== '');
  fc.assert(
    fc.property(question, fc.constantFrom(...TOOL_NAMES), fc.constantFrom(STREAM, REPLY), (question, tool, body) => {
      const isStream = body === STREAM;
      const again = parseRecording(formatRecording(body, question, tool, AT));
      expect(again).toMatchObject({ question: question.replace(/\s+/g, ' '), tool, status: 200 });
      if (isStream) expect(again.body.endsWith(STREAM)).toBe(true);
      else expect(JSON.parse(again.body)).toMatchObject(JSON.parse(REPLY));
    }),
  );
});

describe('the rounds of a conversation', () => {
  const ended = (id: string) => `event: response.completed\ndata: {"type":"response.completed","id":"${id}"}\n\n`;

  test('are found in a stream, below its question', () => {
    const body = formatRecording(joinRounds([STREAM + ended('a'), STREAM + ended('b')]), 'Why?', 'answer', AT);
    expect(roundIn(body, 0)).toBe(STREAM + ended('a'));
    expect(roundIn(body, 1)).toBe(STREAM + ended('b'));
    expect(roundIn(body, 2)).toBe('');
  });

  test('with CRLF, and without the name of the first event', () => {
    const body = joinRounds([`${STREAM}${ended('a')}`.replaceAll('\n', '\r\n'), ended('b')]);
    expect(roundIn(body, 0)).toContain('"id":"a"');
    expect(roundIn(body, 0)).not.toContain('"id":"b"');
    expect(roundIn(body, 1)).toBe(STREAM + ended('b'));
  });

  test('a response in JSON becomes a stream', () => {
    const body = joinRounds([STREAM + ended('a'), REPLY]);
    const completed = `event: response.completed\ndata: {"type":"response.completed","response":${REPLY}}\n\n`;
    expect(roundIn(body, 1)).toBe(STREAM + completed);
  });

  test('one response stays as it is, and is that of every round', () => {
    for (const body of [REPLY, STREAM, `${STREAM}${ended('a')}`]) {
      expect(joinRounds([body])).toBe(body);
      expect([0, 1, 7].map((round) => roundIn(body, round))).toEqual([body, body, body]);
    }
  });
});
