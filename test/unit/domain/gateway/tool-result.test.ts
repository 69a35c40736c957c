import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parseToolResult,
  textIn,
  textOf,
  toContentBlock,
  toPlainResult,
  withResourceUri,
} from '../../../../src/domain/gateway/tool-result.ts';
import type { JsonObject } from '../../../../src/domain/values/json.ts';

const text = (text: string) => ({ type: 'text', text });
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };

function parsed(value: JsonObject) {
  return parseToolResult(value) ?? expect.fail('this is not a result');
}

const plain = (value: JsonObject) => toPlainResult(parsed(value));

describe('parseToolResult', () => {
  test('keeps the result as the server sent it', () => {
    const raw = { content: [text('a'), image], structuredContent: { a: 1 }, isError: true, _meta: { x: 1 }, other: 1 };
    const { content, structuredContent, isError } = raw;
    expect(parseToolResult(raw)).toEqual({ raw, content, structuredContent, isError });
  });

  test('reads members that are null as missing', () => {
    const content = [text('a')];
    const read = parseToolResult({ content, structuredContent: null, isError: null });
    expect(read).toMatchObject({ content, isError: false });
    expect(parsed({ content: null, structuredContent: { a: 1 } })).toMatchObject({ content: [] });
  });

  test.each([['hello'], [['hello']], [[null, 'hello']], [[{ text: 'hello' }]], [{ type: 'text', text: 'hello' }]])(
    'reads texts and single blocks as a list of blocks: %j',
    (content) => {
      const raw = { content: [text('hello')] };
      expect(parseToolResult({ content })).toMatchObject({ ...raw, raw });
    },
  );

  test('reads an error that is written as a text', () => {
    expect(parsed({ content: [], isError: 'true' })).toMatchObject({ isError: true, raw: { isError: true } });
    expect(parsed({ content: [], isError: 'no' })).toMatchObject({ isError: false, raw: { isError: false } });
  });

  test.each([
    ['a list', [text('a')]],
    ['another object', { answer: 42 }],
    ['a text', 'hello'],
  ])('does not read %s', (_, value) => {
    expect(parseToolResult(value)).toBeUndefined();
  });
});

describe('toPlainResult: structured content', () => {
  test('is the result, and the text that repeats it is not shown', () => {
    const structuredContent = { bmi: 22.86, tags: ['a'] };
    const content = [text(JSON.stringify(structuredContent, undefined, 2))];
    expect(plain({ structuredContent, content })).toEqual({ result: structuredContent });
    expect(plain({ structuredContent })).toEqual({ result: structuredContent });
    expect(plain({ structuredContent, content: [] })).toEqual({ result: structuredContent });
  });

  test('is the result, and a text that repeats it is shown beside an image', () => {
    const content = [text('{"bmi":1}'), image];
    expect(plain({ structuredContent: { bmi: 1 }, content })).toEqual({ result: { bmi: 1 }, content });
  });

  test.each([[0], ['']])('may be %j', (structuredContent) => {
    expect(plain({ structuredContent, content: [] })).toEqual({ result: structuredContent });
  });
});

describe('toPlainResult: one text', () => {
  test.each([
    ['{"bmi": 22.86, "category": "normal"}', { bmi: 22.86, category: 'normal' }],
    [' [1, "a", null]\n', [1, 'a', null]],
  ])('%j is JSON', (json, result) => {
    expect(plain({ content: [text(json)] })).toEqual({ result });
  });

  test.each(['hello', '42', 'null', '{broken'])('%j is a text', (value) => {
    expect(plain({ content: [text(value)] })).toEqual({ result: value });
  });

  test('of more than 256 KiB is a text', () => {
    const limit = 256 * 1024;
    const json = (length: number) => JSON.stringify(['x'.repeat(length - 4)]);
    expect(plain({ content: [text(json(limit))] }).result).toBeInstanceOf(Array);
    expect(plain({ content: [text(json(limit + 1))] })).toEqual({ result: json(limit + 1) });
  });

  test('that nests too deeply to be written again is a text', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(plain({ content: [text(nested(1000))] })).toEqual({ result: JSON.parse(nested(1000)) });
    expect(plain({ content: [text(nested(1001))] })).toEqual({ result: nested(1001) });
  });
});

describe('toPlainResult: no plain value', () => {
  test.each([
    ['an image', [image]],
    ['a text and a link', [text('{"a":1}'), link]],
    ['a type of a later revision', [{ type: 'video', uri: 'x' }]],
  ])('%s: null, and all blocks', (_, content) => {
    expect(plain({ content })).toEqual({ result: null, content });
  });

  test('no blocks: null', () => {
    expect(plain({ content: [] })).toEqual({ result: null });
  });
});

describe('laws', () => {
  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.oneof(fc.string(), fc.json()) }),
    fc.constant(image),
  );
  const results = fc.record(
    { content: fc.array(block, { maxLength: 3 }), structuredContent: fc.jsonValue() },
    { requiredKeys: ['content'] },
  );

  test('nothing is lost: all blocks are shown, or the only block is the result', () => {
    fc.assert(
      fc.property(results, (value) => {
        const { result, content } = plain(value);
        const [only] = value.content;
        if (content !== undefined) {
          expect(content).toEqual(value.content);
        } else if (only !== undefined) {
          expect(value.content).toHaveLength(1);
          const sent = 'text' in only ? only.text : undefined;
          expect([sent, reprinted(String(sent))]).toContain(
            value.structuredContent == null && typeof result === 'string' ? result : JSON.stringify(result),
          );
        }
      }),
    );
  });

  test('the result is JSON', () => {
    fc.assert(
      fc.property(results, (value) => {
        expect(JSON.stringify(plain(value).result)).toBeTypeOf('string');
      }),
    );
  });
});

function reprinted(json: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return undefined;
  }
}

test('textOf joins the texts', () => {
  expect(textOf(parsed({ content: [text('a'), image, text(''), text('b')] }))).toBe('a\nb');
  expect(textOf(parsed({ content: [image] }))).toBe('');
});

test.each(['text', 'image', 'audio', 'resource_link', 'resource'])('a block of the type %s is known', (type) => {
  const block = { type, more: 1 };
  expect(toContentBlock(block)).toBe(block);
});

test.each(['video', 'toString', 'unknown', '', undefined, null, ['text']])('%j is an unknown type', (type) => {
  expect(toContentBlock({ type, text: 'a' })).toEqual({ type: 'unknown' });
  expect(textIn({ type, text: 'a' })).toBe(undefined);
});

test('only a block of text with a string has a text', () => {
  const blocks = [
    { type: 'text', text: '' },
    { type: 'text', text: 1 },
    { type: 'text' },
    { type: 'image', text: 'a' },
  ];
  expect(blocks.map(textIn)).toEqual(['', undefined, undefined, undefined]);
});

test('only a link and an embedded resource have a URI, if it is a string', () => {
  const moved = (block: object) => withResourceUri({ ...block }, (uri) => `moved:${uri}`);
  expect(moved({ type: 'resource_link', uri: 'a:1', name: 'b' })).toEqual({
    type: 'resource_link',
    uri: 'moved:a:1',
    name: 'b',
  });
  expect(moved({ type: 'resource', resource: { uri: 'a:1', text: 'b' } })).toEqual({
    type: 'resource',
    resource: { uri: 'moved:a:1', text: 'b' },
  });
  const others = [
    { type: 'resource_link', uri: 1 },
    { type: 'resource', resource: { uri: 1 } },
    { type: 'resource', resource: 'a:1' },
    { type: 'text', uri: 'a:1' },
    { type: 'video', uri: 'a:1' },
  ];
  expect(others.map(moved)).toEqual(others);
});
