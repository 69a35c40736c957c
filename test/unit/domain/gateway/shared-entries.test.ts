import { describe, expect, test } from 'vitest';
import {
  exposedEntries,
  parseEntry,
  parseGatewayUri,
  readEntries,
  type SharedEntry,
  type SharedList,
  withExposedContents,
  withExposedLinks,
} from '../../../../src/domain/gateway/shared-entries.ts';

const entry = (list: SharedList, server: string, listed: object): SharedEntry =>
  parseEntry(server, list, listed) ?? expect.fail('not an entry');
const resource = (server: string, uri: string, name = 'a') => entry('resources', server, { uri, name });
const urisOf = (entries: readonly SharedEntry[]) =>
  exposedEntries('resources', entries, ['one', 'two']).map(({ uri }) => uri);

describe('an entry', () => {
  test('has the name of its server, and other members as they are', () => {
    const listed = { name: 'read', title: 'Read', arguments: [{ name: 'a' }], _meta: { a: 1 } };
    expect(exposedEntries('prompts', [entry('prompts', 'one', listed)], ['one'])).toEqual([
      { ...listed, name: 'one__read' },
    ]);
  });

  test('has a hash if its name is too long, and none if a resource of the same server has the same name', () => {
    const names = (...entries: readonly SharedEntry[]) =>
      exposedEntries('resources', entries, ['one', 'two']).map(({ name }) => String(name));
    expect(names(resource('one', 'a:1'), resource('one', 'a:2'), resource('two', 'a:3'))).toEqual([
      'one__a',
      'one__a',
      'two__a',
    ]);
    expect(names(resource('one', 'a:1', 'x'.repeat(64)))[0]).toMatch(/^one__x{50}_[0-9a-f]{8}$/);
  });

  // S77
  test.each([
    ['resources', { name: 'a', uri: 1 }, { name: 'a', reason: 'it has no uri' }],
    ['resourceTemplates', { uri: 'a:1' }, { name: '', reason: 'it has no uriTemplate' }],
    ['prompts', { title: 'a' }, { name: '', reason: 'it has no name' }],
    ['resources', [], { name: '', reason: 'it has no uri' }],
  ] as const)('of %s without its ID is left out, with the reason: %j', (list, listed, leftOut) => {
    const read = readEntries(list, [listed], (one) => parseEntry('one', list, one));
    expect(read).toEqual({ entries: [], leftOut: [{ list, ...leftOut }] });
  });

  // S77
  test('with the name of one before it is left out, with the reason; a resource is another one by its URI', () => {
    const readAll = (list: SharedList, listed: readonly object[]) =>
      readEntries(list, listed, (one) => parseEntry('one', list, one));
    const prompts = readAll('prompts', [{ name: 'a' }, { name: 'b' }, { name: 'a', title: 'A' }]);
    expect(prompts.entries.map(({ listed }) => listed)).toEqual([{ name: 'a' }, { name: 'b' }]);
    const reason = 'another one of this name is listed before it';
    expect(prompts.leftOut).toEqual([{ list: 'prompts', name: 'a', reason }]);
    const resources = readAll('resources', [
      { uri: 'a:1', name: 'a' },
      { uri: 'a:2', name: 'a' },
      { uri: 'a:1', name: 'a', size: 1 },
    ]);
    expect(resources.entries.map(({ id }) => id)).toEqual(['a:1', 'a:2']);
    expect(resources.leftOut).toEqual([{ list: 'resources', name: 'a', reason }]);
  });

  test('without a name has its URI as its name', () => {
    expect(exposedEntries('resources', [entry('resources', 'one', { uri: 'a:1', name: null })], ['one'])).toEqual([
      { uri: 'gateway:///one/a:1', name: expect.stringMatching(/^one__a/) },
    ]);
  });

  test('has no members that are not as MCP specifies, and all others', () => {
    const prompt = { name: 'p', description: null, title: 1, arguments: [{ name: 'a', required: 'yes' }, {}], x: [1] };
    expect(entry('prompts', 'one', prompt).listed).toEqual({ name: 'p', arguments: [{ name: 'a' }], x: [1] });
    const resource = {
      uri: 'a:1',
      name: 'a',
      size: '1',
      mimeType: null,
      annotations: { audience: ['user', 'me'], priority: 7, lastModified: '2026-02-30T00:00:00Z' },
    };
    expect(entry('resources', 'one', resource).listed).toEqual({
      uri: 'a:1',
      name: 'a',
      annotations: { audience: ['user'] },
    });
  });
});

describe('a URI', () => {
  // S60
  test('has its server, in lists of resources and of templates', () => {
    expect(urisOf([resource('one', 'a:1'), resource('two', 'a:1'), resource('one', 'gateway:///two/a:1')])).toEqual([
      'gateway:///one/a:1',
      'gateway:///two/a:1',
      'gateway:///one/gateway:///two/a:1',
    ]);
    const template = entry('resourceTemplates', 'one', { name: 'a', uriTemplate: 'a:{b}' });
    expect(exposedEntries('resourceTemplates', [template], ['one'])[0]?.uriTemplate).toBe('gateway:///one/a:{b}');
  });

  test('of a page for hosts is kept', () => {
    expect(urisOf([resource('one', 'ui://weather/card')])).toEqual(['ui://weather/card']);
  });

  test.each([
    ['gateway:///one/a://b/c', { server: 'one', uri: 'a://b/c' }],
    ['gateway:///one/gateway:///two/a', { server: 'one', uri: 'gateway:///two/a' }],
    ['gateway:///one/', undefined],
    ['a:1', undefined],
  ])('%j names %j', (uri, named) => {
    expect(parseGatewayUri(uri)).toEqual(named);
  });
});

describe('the result of a read', () => {
  const read = (contents: unknown, uri = 'a:1', asked = 'gateway:///one/a:1') =>
    withExposedContents({ contents, _meta: {} }, 'one', uri, asked).contents;

  test.each([
    ['the URI that was asked for', [{ uri: 'A:1', text: 'a' }], [{ uri: 'gateway:///one/a:1', text: 'a' }]],
    [
      'the parts of a folder with their server',
      [{ uri: 'a:1' }, { uri: 'a:1/b' }],
      [{ uri: 'gateway:///one/a:1' }, { uri: 'gateway:///one/a:1/b' }],
    ],
    ['what is no content', [1, null, { uri: 2 }], [1, null, { uri: 2 }]],
  ])('has %s', (_, contents, expected) => {
    expect(read(contents)).toEqual(expected);
  });
});

describe('the links of a result', () => {
  const link = (uri: string) => ({ type: 'resource_link', uri, name: 'a' });

  test.each([
    ['a link', link('file:///a.png'), link('gateway:///one/file:///a.png')],
    [
      'an embedded resource',
      { type: 'resource', resource: { uri: 'a:1', text: 'a' } },
      { type: 'resource', resource: { uri: 'gateway:///one/a:1', text: 'a' } },
    ],
    ['a web page, which clients open themselves', link('https://a.example/1'), link('https://a.example/1')],
    ['a page for hosts', link('ui://a/b'), link('ui://a/b')],
    ['a resource without a URI', { type: 'resource', resource: {} }, { type: 'resource', resource: {} }],
  ])('lead to the server: %s', (_, block, exposed) => {
    expect(withExposedLinks({ content: [block], isError: false }, 'one')).toEqual({
      content: [exposed],
      isError: false,
    });
    const messages = (content: object) => ({ messages: [{ role: 'user', content }] });
    expect(withExposedLinks(messages(block), 'one')).toEqual(messages(exposed));
  });

  test('of another form are unchanged', () => {
    for (const result of [{}, { content: 'a' }, { messages: [1] }])
      expect(withExposedLinks(result, 'one')).toEqual(result);
  });
});
