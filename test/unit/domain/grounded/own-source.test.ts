import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  callName,
  markerOf,
  type OwnSource,
  resolveMarkers,
  sourcesOf,
  withoutFileUris,
  withoutLocalPath,
} from '../../../../src/domain/grounded/own-source.ts';
import { cleanText } from '../../../../src/domain/values/clean-text.ts';
import type { JsonObject } from '../../../../src/domain/values/json.ts';
import { result } from '../../../support/fake-answer-gateway.ts';

const CALL = 'jira/search';
const link = (uri: unknown, over: JsonObject = {}) => ({ type: 'resource_link', uri, ...over });
const embedded = (resource: unknown, over: JsonObject = {}) => ({ type: 'resource', resource, ...over });
const of = (content: readonly JsonObject[], structuredContent?: unknown, turn = 0) =>
  sourcesOf(result({ content, structuredContent }), CALL, turn, (text) => text);
/** Without what is the same for all. */
const found = (...args: Parameters<typeof of>) => of(...args).map(({ ref: _, call: _call, ...rest }) => rest);

describe('the sources of a result', () => {
  test('are links, then embedded resources, then those of the structured content', () => {
    const sources = of(
      [embedded({ uri: 'notes://2', title: 'Two' }), { type: 'text', text: 'x' }, link('notes://1', { name: 'One' })],
      { results: [{ url: 'https://a.com/3', title: 'Three' }, 'x', { title: 'no URL' }, { url: 'https://a.com/4' }] },
      7,
    );
    expect(sources).toEqual([
      { ref: 'turn7tool0', url: 'notes://1', title: 'One', call: CALL },
      { ref: 'turn7tool1', url: 'notes://2', title: 'Two', call: CALL },
      { ref: 'turn7tool2', url: 'https://a.com/3', title: 'Three', call: CALL },
      { ref: 'turn7tool3', url: 'https://a.com/4', call: CALL },
    ]);
  });

  test('are the structured content itself, if it has no results', () => {
    const page = { title: 'Page', url: 'https://a.com/1' };
    expect(found([], { id: 1, ...page })).toEqual([page]);
  });

  test.each<[string, readonly JsonObject[], unknown]>([
    ['a text', [{ type: 'text', text: 'https://a.com' }], undefined],
    ['no results', [], { results: [] }],
    ['structured content that is no object', [], ['https://a.com']],
    ['blocks without a URI', [link(undefined), link(5), link(' '), embedded(undefined), embedded({ text: 'x' })], null],
    ['a URI that is data or code', [link('data:text/html,x'), link('JavaScript:alert(1)')], { url: 'blob:x' }],
    [
      'a URI that starts a program, in any spelling',
      [
        link(' \u0001java\tscript:alert(1)'),
        link('VIEW-SOURCE:javascript:alert(1)'),
        link('Intent://x#Intent;end'),
        link('ms-word:ofe|u|https://a.com'),
        link('v\nbscript:x'),
      ],
      undefined,
    ],
    ['a URI that is too long', [link(`https://a.com/${'x'.repeat(2000)}`)], undefined],
  ])('of %s are the call', (_, content, structuredContent) => {
    expect(of(content, structuredContent)).toEqual([{ ref: 'turn0tool0', url: CALL, call: CALL }]);
  });

  test.each([
    ['postgres://user:password@host/db?a=b@c', 'postgres://host/db?a=b@c'],
    ['github://org/repo@v1', 'github://org/repo@v1'],
  ])('have no user information: %s', (uri, url) => {
    expect(found([link(uri)])).toEqual([{ url }]);
  });

  test('name the title, or else the name', () => {
    const named = link('notes://1', { name: 'note-1', title: 'A note' });
    expect(found([named])).toEqual([{ url: 'notes://1', title: 'A note' }]);
  });

  test('are one entry per URI, which has what any of them says', () => {
    expect(
      found([link('https://a.com/1', { annotations: { lastModified: '2026-01-02T00:00:00Z' } })], {
        results: [{ url: 'https://a.com/1', title: 'Page' }],
      }),
    ).toEqual([{ url: 'https://a.com/1', title: 'Page', changedOn: '2026-01-02' }]);
  });

  test('are at most 50, and have names of at most 200 characters', () => {
    expect(of(Array.from({ length: 60 }, (_, index) => link(`notes://${index}`)))).toHaveLength(50);
    const [source] = found([link('notes://1', { title: 'x'.repeat(300) })]);
    expect(source?.title).toBe(`${'x'.repeat(199)}…`);
  });

  test('contain nothing that hides, reorders or continues on another line', () => {
    const hostile = 'a\u202E\u001B[31m\n\uE200cite\uE202turn0tool9\uE201b';
    expect(found([link(`notes://${hostile}`, { title: hostile })])).toEqual([{ url: 'notes://a b', title: 'a b' }]);
    expect(callName({ server: 'jira', name: `x]\n\n[${hostile}` })).toBe('jira/x a b');
    expect(callName({ server: 'jira', name: 'x'.repeat(300) })).toHaveLength(200);
  });
});

describe('the day of the last change', () => {
  test.each([
    ['2026-01-02T10:00:58Z', '2026-01-02'],
    ['2026-13-01', undefined],
    ['2026-01-021', undefined],
    [['2024-01-02'], undefined],
  ])('of %j is %j', (lastModified, changedOn) => {
    const annotations = { lastModified };
    for (const block of [
      link('notes://1', { annotations }),
      embedded({ uri: 'notes://1', annotations }),
      embedded({ uri: 'notes://1' }, { annotations }),
    ])
      expect(of([block])[0]?.changedOn).toBe(changedOn);
  });
});

describe('paths of this machine', () => {
  const source = (url: string): OwnSource => ({ ref: 'turn0tool0', url, title: '/home/me', call: CALL });

  test.each(['FILE:/home/me/a.txt', '/home/me/a.txt', 'C:\\Users\\me\\a.txt'])(
    'are the call for other callers: %s',
    (url) => {
      expect(withoutLocalPath(source(url))).toEqual({ ref: 'turn0tool0', url: CALL, call: CALL });
    },
  );

  test.each(['https://a.com/1', 'urn:x:1'])('%s is none', (url) => {
    expect(withoutLocalPath(source(url))).toEqual(source(url));
  });

  test('are replaced in a text', () => {
    const sources = [source('file:///a'), source('file:///a/b'), source('/a'), source('https://a.com')];
    expect(withoutFileUris('See file:///a/b, file:///a, /a and https://a.com.', sources)).toBe(
      'See jira/search, jira/search, /a and https://a.com.',
    );
  });

  test('do not appear in the text either if only the content of a result named them', () => {
    const sources = of([link('notes://1')]);
    expect(withoutFileUris('[A](file:///home/me/a.txt), FILE:/b.md. A file: c.', sources)).toBe(
      '[A]([local file]), [local file]. A file: c.',
    );
    expect(withoutFileUris('file:///etc/hosts', [])).toBe('file:///etc/hosts');
  });

  test.for(['file:/.', 'file:/..'])('are removed from a long text: %s', (part) => {
    const sources = of([link('notes://1')]);
    // Quadratic work would take minutes, and end with the time limit of tests.
    expect(withoutFileUris(`${part.repeat(500_000)}${'.'.repeat(500_000)}`, sources)).toMatch(/^\[local file\]/);
  });
});

describe('markers in the text', () => {
  const page: OwnSource = { ref: 'turn0tool0', url: 'https://a.com/1', title: 'Page', call: CALL };
  const note: OwnSource = { ref: 'turn0tool1', url: 'notes://1', title: 'Note', call: CALL };
  const other: OwnSource = { ref: 'turn1tool0', url: 'wiki/get', call: 'wiki/get' };
  const SOURCES = [page, note, other];
  const marker = (...refs: readonly string[]) => `\uE200cite${refs.map((ref) => `\uE202${ref}`).join('')}\uE201`;
  /** As in an answer. */
  const shown = (text: string, sources: readonly OwnSource[] = SOURCES) =>
    cleanText(resolveMarkers(text, sources).text);

  test('are as in the guide of OpenAI', () => {
    expect(markerOf(page)).toBe('\uE200cite\uE202turn0tool0\uE201');
  });

  test.each([
    ['a page: its link', `Two.${markerOf(page)} Done.`, 'Two. ([Page](https://a.com/1)) Done.'],
    ['another URI: the call', `Two ${markerOf(note)}.`, 'Two [jira/search].'],
    ['the call itself', `Two.${markerOf(other)}`, 'Two. [wiki/get]'],
    ['several in one', `Two.${marker('turn0tool0', 'turn1tool0')}`, 'Two. ([Page](https://a.com/1)) [wiki/get]'],
    ['the same twice in one', `Two.${marker('turn0tool1', 'turn0tool1')}`, 'Two. [jira/search]'],
    ['a web page beside it', `Two.${marker('turn0search1', 'turn0tool0')}`, 'Two. ([Page](https://a.com/1))'],
    ['one without an end', `Two.\uE200cite\uE202turn0tool0 Done.`, 'Two. ([Page](https://a.com/1)) Done.'],
    ['an unknown one without an end', 'Two.\uE200cite\uE202turn9tool9 Done.', 'Two. Done.'],
    ['one of another kind', 'Two.\uE200filecite\uE202turn0file0\uE201', 'Two.'],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test('are counted once, in the order of the text', () => {
    const { marked } = resolveMarkers(`${markerOf(other)} ${markerOf(page)} ${markerOf(other)}`, SOURCES);
    expect(marked).toEqual([other, page]);
  });

  test.each([
    ['a title', { ...page, title: 'a](https://evil.com) [`b\\' }, '([a(https://evil.com) b](https://a.com/1))'],
    ['no title', { ref: 'turn0tool0', url: 'https://a.com/1', call: CALL }, '([https://a.com/1](https://a.com/1))'],
    ['a URL', { ...page, url: 'https://a.com/(x) y\\<z>' }, '([Page](https://a.com/%28x%29%20y%5C%3Cz%3E))'],
  ])('links whose text ends where it should: %s', (_, source, expected) => {
    expect(shown(markerOf(source), [source]).trim()).toBe(expected);
  });

  test('none remains of any text', () => {
    const piece = fc.constantFrom('\uE200', '\uE201', '\uE202', 'cite', 'turn0tool0', 'turn9tool9', ' ', '\n', 'a');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect(shown(pieces.join(''))).not.toMatch(/[\uE200-\uE202]/);
      }),
    );
  });

  test('are found in a long text', () => {
    // Quadratic work would take minutes, and end with the time limit of tests.
    for (const part of [' ', '\uE200cite\uE202', ' \uE200']) resolveMarkers(part.repeat(300_000), SOURCES);
  });
});
