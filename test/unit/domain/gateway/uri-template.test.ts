import fc from 'fast-check';
import { expect, test } from 'vitest';
import { templateTest } from '../../../../src/domain/gateway/uri-template.ts';
import { cpuMs } from '../../../support/cpu-time.ts';
import { expectLinear } from '../../../support/expect-linear.ts';

const fitsTemplate = (template: string, uri: string) => templateTest(uri)(template);

test.each([
  ['demo://text/{id}', 'demo://text/1', true],
  ['demo://text/{id}', 'demo://text/a%20b', true],
  ['demo://text/{id}', 'demo://text/日本', true],
  ['demo://text/{id}', 'demo://text/', true],
  ['demo://text/{id}', 'demo://text/1/2', false],
  ['demo://text/{id}', 'demo://text/1?a=b', false],
  ['demo://text/{id}', 'demo://blob/1', false],
  ['demo://{id}/data', 'demo://1/data', true],
  ['demo://{id}/data', 'demo://1/datas', false],
  ['demo://{id}/data', 'demo://data', false],
  ['file:///{+path}/{name}.md', 'file:///a/b/c.md', true],
  ['file:///{+path}/{name}.md', 'file:///c.md', false],
  ['file://{/path*}', 'file:///a/b', true],
  ['file://{/path*}', 'file:///a/b?c', false],
  ['db://rows{?page,size}', 'db://rows', true],
  ['db://rows{?page,size}', 'db://rows?page=1&size=2', true],
  ['db://rows?fixed=1{&page}', 'db://rows?fixed=1&page=2', true],
  ['db://rows{?page}', 'db://rows?page=1#top', false],
  ['db://rows{#part}', 'db://rows#a/b?c', true],
  ['a.b://(x)+{id}', 'a.b://(x)+1', true],
  ['a.b://(x)+{id}', 'aab://(x)+1', false],
  ['demo://{unclosed', 'demo://{unclosed', true],
  ['demo://{}', 'demo://{}', true],
  ['', '', true],
  ['', 'a', false],
])('the template %j, the URI %j: %j', (template, uri, fits) => {
  expect(fitsTemplate(template, uri)).toBe(fits);
});

test('every expansion of simple expressions fits', () => {
  const literal = fc.stringMatching(/^[a-z/:.-]{0,5}$/);
  const value = fc.string({ maxLength: 5 }).map(encodeURIComponent);
  fc.assert(
    fc.property(fc.array(fc.tuple(literal, value), { maxLength: 6 }), literal, (parts, end) => {
      const template = parts.map(([text], index) => `${text}{v${index}}`).join('');
      const uri = parts.map(([text, value]) => text + value).join('');
      return fitsTemplate(template + end, uri + end);
    }),
  );
});

test.each(['{a}', '{a}{+b}', '{+a}a'])('takes time in proportion to the URI with many of %s', (part) => {
  const template = `x://${part.repeat(100)}!`;
  expectLinear((length) => expect(fitsTemplate(template, `x://${'a'.repeat(length)}`)).toBe(false), 1000);
});

test('a URI or a template of more than 2,048 characters fits nothing', () => {
  expect(fitsTemplate('a{+b}', 'a'.repeat(2048))).toBe(true);
  expect(fitsTemplate('a{+b}', 'a'.repeat(2049))).toBe(false);
  expect(fitsTemplate(`a{${'b'.repeat(2046)}}`, 'a')).toBe(false);
});

test('a thousand templates that are made to take long take a moment, and few of them do not hide others', () => {
  const uri = `a://${'x'.repeat(2040)}`;
  const fits = templateTest(uri);
  const templates = Array.from({ length: 1000 }, (_, at) => `a://${'{+a}'.repeat(500)}y${at}`);
  expect(cpuMs(() => expect(templates.some(fits)).toBe(false))).toBeLessThan(1000);
  const usual = templateTest('db://rows/1?page=1');
  for (let at = 0; at < 999; at += 1) expect(usual(`db://rows/{id}/${at}{?page,size}`)).toBe(false);
  expect(usual('db://rows/{id}{?page,size}')).toBe(true);
});
