import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toWebUrl, withoutUserInfo } from '../../../../src/domain/values/web-url.ts';

describe('a URL that is cited as it was received', () => {
  test.each([
    'https://nodejs.org/en/blog/release/v24.0.0/?a=1&b[]=2#top',
    'https://[2001:db8::1]/a',
    "https://en.wikipedia.org/wiki/Moore's_law_(computing)",
    'https://例え.jp/パス?q=検索',
    'https://a.jp/%E6%9D%B1?q=%22a%22&x={id}|a^b',
    'https://a.jp/@user/a@b',
    `https://a.jp/${'x'.repeat(2035)}`,
  ])('%s', (url) => {
    expect(toWebUrl(url)).toBe(url);
  });
});

describe('a character that would end the URL where it is shown is encoded', () => {
  test.each([
    ['https://a.jp/) [Log in](https://evil.com', 'https://a.jp/)%20[Log%20in%5D(https://evil.com'],
    ['https://a.jp/"onmouseover="alert(1)', 'https://a.jp/%22onmouseover=%22alert(1)'],
    ['https://a.jp/<script>`x`', 'https://a.jp/%3Cscript%3E%60x%60'],
    ['https://a.jp/a\\b', 'https://a.jp/a%5Cb'],
    ['https://a.jp/a\u3000b', 'https://a.jp/a%E3%80%80b'],
  ])('%s', (url, shown) => {
    expect(toWebUrl(url)).toBe(shown);
  });
});

describe('what is no URL to cite', () => {
  test.each([
    'javascript:alert(1)',
    'ftp://a.jp/',
    'https:///a.jp',
    'https://[',
    'https://a.jp:99999/',
    'https://a.jp\\@evil.com/',
    'https://user:password@a.jp/',
    `https://a.jp/${'x'.repeat(2036)}`,
  ])('%s', (url) => {
    expect(toWebUrl(url)).toBeUndefined();
  });
});

test('what is shown is a URL of http or https without anything that ends it, and is shown again unchanged', () => {
  const piece = fc.oneof(
    fc.constantFrom('https://', 'a.jp', '/', '](', '\\', '@', ':', '?', '#', '%', ' ', '"'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const shown = toWebUrl(`https://${pieces.join('')}`);
      if (shown === undefined) return;
      expect(new URL(shown).protocol).toMatch(/^https?:$/);
      expect(shown).not.toMatch(/[\s"<>\\`]|\]\(/);
      expect(toWebUrl(shown) ?? 'too long').toBe(shown.length > 2048 ? 'too long' : shown);
    }),
  );
});

describe('user information of a URI is removed', () => {
  test.each([
    ['postgres://user:password@host/db', 'postgres://host/db'],
    ['postgres://user@host:5432/db', 'postgres://host:5432/db'],
    ['- Orders (mysql://root:a@db:3306/orders)', '- Orders (mysql://db:3306/orders)'],
  ])('%s', (text, shown) => {
    expect(withoutUserInfo(text)).toBe(shown);
  });

  test.each([
    'https://a.jp/@user/a@b',
    'http://localhost:8080?a=b@c',
    'http://[2001:db8::1]:80/a@b',
    'mailto:alice@a.jp',
    'Sources: Alice, https://a.jp:443/a:b@c',
  ])('and nothing else: %s', (text) => {
    expect(withoutUserInfo(text)).toBe(text);
  });

  test.each(['://a:b', 'a:b'])('in a long text: %s', (part) => {
    // Quadratic work would take minutes, and end with the time limit of tests.
    expect(withoutUserInfo(`${part.repeat(20_000)} @`)).toMatch(/ @$/);
  });
});
