import { beforeEach, describe, expect, test } from 'vitest';
import { readKeySet } from '../../src/adapters/outbound/oauth/issuer-keys.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { until } from '../support/until.ts';

let server: FakeIssuer;

beforeEach(async () => {
  server = await FakeIssuer.start();
  server.answers.set(METADATA, { status: 404 });
  server.answers.set('/keys', { body: { keys: [] } });
});

const METADATA = '/.well-known/oauth-authorization-server';

/** The keys, or why there are none, with the URL of the server left out. */
async function read(path = '', jwksPath?: string, signal = new AbortController().signal) {
  const jwksUri = jwksPath === undefined ? undefined : `${server.origin}${jwksPath}`;
  const found = await readKeySet({ issuer: `${server.origin}${path}`, jwksUri, fetch }, signal);
  return found.match(
    (keySet): unknown => keySet,
    (problem) => problem.replaceAll(server.origin, ''),
  );
}

const metadata = (path = '') => ({ issuer: `${server.origin}${path}`, jwks_uri: `${server.origin}/keys` });

describe('the metadata is found', () => {
  test.each([
    ['', METADATA],
    ['/', '/.well-known/openid-configuration'],
    ['/realms/a', '/.well-known/openid-configuration/realms/a'],
    ['/tenant/v2.0/', '/tenant/v2.0/.well-known/openid-configuration'],
  ])('of the issuer %j at %s', async (path, page) => {
    server.answers.set(page, { body: metadata(path) });
    expect(await read(path)).toEqual({ keys: [] });
  });

  test('in the order of MCP', async () => {
    await read('/a');
    expect(server.seen).toEqual([
      '/.well-known/oauth-authorization-server/a',
      '/.well-known/openid-configuration/a',
      '/a/.well-known/openid-configuration',
    ]);
  });

  test('and is not needed if the URL of the keys is configured', async () => {
    expect(await read('', '/keys')).toEqual({ keys: [] });
    expect(server.seen).toEqual(['/keys']);
  });
});

describe('the metadata is not used', () => {
  test.each([
    [
      'if it names the issuer with a slash',
      () => metadata('/'),
      'names the issuer "/", and http.oauth.issuer must be exactly the same',
    ],
    ['if it is a list', () => [], 'names the issuer undefined, and http.oauth.issuer must be exactly the same'],
    ['without keys', () => ({ issuer: server.origin }), 'has no https:// jwks_uri'],
    [
      'if others could change the keys',
      () => ({ ...metadata(), jwks_uri: 'http://auth.example.com/keys' }),
      'has no https:// jwks_uri',
    ],
    ['if it is not JSON', () => '<html>', 'is not JSON'],
  ])('%s', async (_, page, problem) => {
    server.answers.set(METADATA, { body: page() });
    expect(await read()).toBe(`${METADATA} ${problem}; /.well-known/openid-configuration answered with HTTP 404`);
  });
});

describe('the keys are not used', () => {
  test.each([
    ['after a redirect', { status: 302, location: '/keys' }, 'answered with HTTP 302'],
    ['after an error', { status: 500 }, 'answered with HTTP 500'],
    ['if they are too large', { body: { keys: [], x: 'x'.repeat(256 * 1024) } }, 'has more than 262144 bytes'],
    ['if there is no list', { body: {} }, 'is not a set of keys'],
    ['if the list has other values', { body: { keys: [null] } }, 'is not a set of keys'],
  ])('%s', async (_, page, problem) => {
    server.answers.set('/moved', page);
    expect(await read('', '/moved')).toBe(`/moved ${problem}`);
    expect(server.seen).toEqual(['/moved']);
  });

  test('if there is no response in time', async () => {
    server.answers.set('/slow', 'hangs');
    const limit = new AbortController();
    const found = read('', '/slow', limit.signal);
    await until(() => server.seen.length > 0);
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
