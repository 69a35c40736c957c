import { expect, test } from 'vitest';
import { textIn, toContentBlock, withResourceUri } from '../../../../src/domain/gateway/content-block.ts';

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
