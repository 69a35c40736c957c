import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readKeySet } from '../../src/adapters/outbound/oauth/issuer-documents.ts';
import { type LocalIssuer, startLocalIssuer } from './local-issuer.ts';

let server: LocalIssuer;

beforeAll(async () => {
  server = await startLocalIssuer();
});

afterAll(() => server.close());

beforeEach(() => {
  server.requests.length = 0;
  server.pages.clear();
  server.pages.set('/keys', { keys: [] });
});

/** The keys, or why there are none, with the URL of the server left out. */
async function read(path = '', jwksPath?: string, signal = new AbortController().signal) {
  const jwksUri = jwksPath === undefined ? undefined : `${server.url}${jwksPath}`;
  const found = await readKeySet({ issuer: `${server.url}${path}`, jwksUri, fetch }, signal);
  return found.match(
    (keySet): unknown => keySet,
    (problem) => problem.replaceAll(server.url, ''),
  );
}

const metadata = (path = '') => ({ issuer: `${server.url}${path}`, jwks_uri: `${server.url}/keys` });

describe('the metadata is found', () => {
  test.each([
    ['', '/.well-known/oauth-authorization-server'],
    ['', '/.well-known/openid-configuration'],
    ['/', '/.well-known/openid-configuration'],
    ['/realms/a', '/.well-known/oauth-authorization-server/realms/a'],
    ['/realms/a', '/.well-known/openid-configuration/realms/a'],
    ['/realms/a', '/realms/a/.well-known/openid-configuration'],
    ['/tenant/v2.0/', '/tenant/v2.0/.well-known/openid-configuration'],
  ])('of the issuer %j at %s', async (path, page) => {
    server.pages.set(page, metadata(path));
    expect(await read(path)).toEqual({ keys: [] });
  });

  test('in the order of MCP', async () => {
    await read('/a');
    expect(server.requests).toEqual([
      '/.well-known/oauth-authorization-server/a',
      '/.well-known/openid-configuration/a',
      '/a/.well-known/openid-configuration',
    ]);
  });

  test('and is not needed if the URL of the keys is configured', async () => {
    expect(await read('', '/keys')).toEqual({ keys: [] });
    expect(server.requests).toEqual(['/keys']);
  });
});

describe('the metadata is not used', () => {
  const PAGE = '/.well-known/oauth-authorization-server';

  test.each([
    [
      'if it names another issuer',
      () => ({ ...metadata(), issuer: 'https://evil.example' }),
      'names the issuer "https://evil.example", and http.oauth.issuer must be exactly the same',
    ],
    [
      'if it names the issuer with a slash',
      () => metadata('/'),
      'names the issuer "/", and http.oauth.issuer must be exactly the same',
    ],
    ['if it names no issuer', () => ({}), 'names the issuer undefined, and http.oauth.issuer must be exactly the same'],
    ['if it is a list', () => [], 'names the issuer undefined, and http.oauth.issuer must be exactly the same'],
    ['without keys', () => ({ issuer: server.url }), 'has no https:// jwks_uri'],
    [
      'if others could change the keys',
      () => ({ ...metadata(), jwks_uri: 'http://auth.example.com/keys' }),
      'has no https:// jwks_uri',
    ],
    [
      'if the keys are in a file',
      () => ({ ...metadata(), jwks_uri: 'file:///etc/passwd' }),
      'has no https:// jwks_uri',
    ],
    ['if it is not JSON', () => '<html>', 'is not JSON'],
  ])('%s', async (_, page, problem) => {
    server.pages.set(PAGE, page());
    expect(await read()).toBe(`${PAGE} ${problem}; /.well-known/openid-configuration has the status 404`);
  });
});

describe('the keys are not used', () => {
  test.each([
    ['after a redirect', 302, 'has the status 302'],
    ['after an error', 500, 'has the status 500'],
    ['if they are too large', `{"keys": [], "x": "${'x'.repeat(256 * 1024)}"}`, 'has more than 262144 bytes'],
    ['if there is no list', {}, 'is not a set of keys'],
    ['if the list has other values', { keys: [null] }, 'is not a set of keys'],
  ])('%s', async (_, page, problem) => {
    server.pages.set('/moved', page);
    expect(await read('', '/moved')).toBe(`/moved ${problem}`);
    expect(server.requests).toEqual(['/moved']);
  });

  test('if there is no response in time', async () => {
    server.pages.set('/slow', null);
    const limit = new AbortController();
    const found = read('', '/slow', limit.signal);
    while (server.requests.length === 0) await new Promise(setImmediate);
    limit.abort();
    expect(await found).toBe('/slow: no response in time');
  });

  test('if nothing listens', async () => {
    const found = await readKeySet(
      { issuer: 'http://127.0.0.1:1', jwksUri: 'http://127.0.0.1:1/keys', fetch },
      new AbortController().signal,
    );
    expect(found._unsafeUnwrapErr()).toMatch(/^http:\/\/127\.0\.0\.1:1\/keys: /);
  });
});
