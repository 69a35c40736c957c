import { describe, expect, test } from 'vitest';
import {
  exposedEntries,
  parseEntry,
  parseGatewayUri,
  type SharedEntry,
  type SharedList,
  withAskedUri,
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

  test.each([
    ['a name', { uri: 'a:1' }],
    ['a URI', { name: 'a' }],
    ['a URI that is a text', { name: 'a', uri: 1 }],
  ])('without %s is left out', (_, listed) => {
    expect(parseEntry('one', 'resources', listed)).toBeUndefined();
    expect(parseEntry('one', 'resources', [listed])).toBeUndefined();
  });
});

describe('a URI', () => {
  test('that one server lists is unchanged, also if it lists it twice', () => {
    expect(urisOf([resource('one', 'a:1'), resource('one', 'a:1'), resource('two', 'a:2')])).toEqual([
      'a:1',
      'a:1',
      'a:2',
    ]);
  });

  test('that several servers list has the server, at each of them', () => {
    expect(urisOf([resource('one', 'a:1'), resource('two', 'a:1'), resource('two', 'a:2')])).toEqual([
      'gateway:///one/a:1',
      'gateway:///two/a:1',
      'a:2',
    ]);
  });

  test('that could mean another server has its own', () => {
    expect(urisOf([resource('one', 'gateway:///two/a:1')])).toEqual(['gateway:///one/gateway:///two/a:1']);
  });

  test('of a template has the server in the same way', () => {
    const templates = ['one', 'two'].map((server) =>
      entry('resourceTemplates', server, { name: 'a', uriTemplate: 'a:{b}' }),
    );
    const exposed = exposedEntries('resourceTemplates', templates, ['one', 'two']);
    expect(exposed.map(({ uriTemplate }) => uriTemplate)).toEqual(['gateway:///one/a:{b}', 'gateway:///two/a:{b}']);
  });

  test.each([
    ['gateway:///one/a://b/c', { server: 'one', uri: 'a://b/c' }],
    ['gateway:///one/gateway:///two/a', { server: 'one', uri: 'gateway:///two/a' }],
    ['gateway:///one/', undefined],
    ['gateway:///one', undefined],
    ['gateway://one/a', undefined],
    ['a:1', undefined],
  ])('%j names %j', (uri, named) => {
    expect(parseGatewayUri(uri)).toEqual(named);
  });
});

describe('a result', () => {
  const asked = 'gateway:///one/a:1';

  test('has the URI that was asked for', () => {
    expect(withAskedUri({ contents: [{ uri: 'A:1', text: 'a' }], _meta: {} }, 'a:1', asked)).toEqual({
      contents: [{ uri: asked, text: 'a' }],
      _meta: {},
    });
  });

  test('with the parts of a folder keeps their URIs', () => {
    const contents = [{ uri: 'a:1' }, { uri: 'a:1/b' }];
    expect(withAskedUri({ contents }, 'a:1', asked)).toEqual({ contents: [{ uri: asked }, { uri: 'a:1/b' }] });
  });

  test('of another form is unchanged', () => {
    for (const result of [{}, { contents: 'a' }, { contents: [1, null] }])
      expect(withAskedUri(result, 'a', 'b')).toEqual(result);
  });
});
