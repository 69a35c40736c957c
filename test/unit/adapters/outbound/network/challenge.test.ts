import { assert, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { demandIn } from '../../../../../src/adapters/outbound/network/challenge.ts';

const META = 'https://a.example/.well-known/oauth-protected-resource';

function demand(...headers: readonly string[]) {
  const sent = new Headers(headers.map((header) => ['WWW-Authenticate', header]));
  const { resourceMetadataUrl, scope, error } = demandIn(sent.get('WWW-Authenticate'));
  return [scope, resourceMetadataUrl?.href, error];
}

describe('a challenge is understood in any form', () => {
  test.each<[string, ...string[]]>([
    ['with quotation marks', `Bearer scope="read", resource_metadata="${META}"`],
    ['without them', `Bearer scope=read, resource_metadata=${META}`],
    ['after another scheme', `Basic realm="a, b", Bearer scope=read, resource_metadata=${META}`],
    ['before another scheme', `Bearer scope=read, resource_metadata=${META}, Basic realm="a, b"`],
    ['between schemes', `Digest qop="auth, int", nonce="x=", Bearer scope="read", resource_metadata="${META}", NTLM`],
    ['after a scheme with credentials', `Negotiate YII/a+b==, Bearer scope=read, resource_metadata=${META}`],
    ['after schemes alone', `Negotiate, NTLM , Bearer scope=read, resource_metadata=${META}`],
    ['in a header of its own', 'Basic realm="x"', `Bearer scope=read, resource_metadata=${META}`, 'Negotiate'],
    ['over two challenges', 'Bearer scope=read', `Bearer resource_metadata="${META}"`],
    ['with blanks around each mark', `Bearer   scope = "read" ,\tresource_metadata\t=  "${META}" `],
    ['with empty entries of the list', `, ,Bearer ,scope=read,,resource_metadata="${META}",`],
    ['without a comma between its parameters', `Bearer scope="read" resource_metadata="${META}"`],
    ['in other cases', `BEARER Scope="read", Resource_Metadata="${META}"`],
    ['by another scheme of tokens', `DPoP algs="ES256 PS256", scope="read", resource_metadata="${META}"`],
    ['with escapes', String.raw`Bearer realm="\", scope=\"no\"\\", scope="\r\ea\d", resource_metadata="${META}"`],
    ['with a quoted scheme before it', `Basic realm="Bearer scope=no", Bearer scope=read, resource_metadata=${META}`],
    ['with parameters twice', `Bearer scope=read, scope=no, resource_metadata="${META}", resource_metadata="x:y"`],
    [
      'with empty parameters first',
      `Bearer scope="", resource_metadata=, Bearer scope=read, resource_metadata=${META}`,
    ],
    ['with what belongs to no challenge', `"a, scope=no" ; Bearer scope=read, ( "x", resource_metadata=${META}`],
    ['with a quotation mark too few', `Bearer scope=read, resource_metadata="${META}`],
  ])('%s', (_, ...headers) => {
    expect(demand(...headers)).toEqual(['read', META, undefined]);
  });

  test('several scopes, and an error', () => {
    expect(demand('Bearer error="insufficient_scope", scope="read  write"')).toEqual([
      'read  write',
      undefined,
      'insufficient_scope',
    ]);
  });
});

test.each([
  ['no header'],
  ['nothing', ''],
  ['a scheme alone', 'Bearer'],
  ['a token in place of parameters', 'Bearer scope='],
  ['another scheme', 'Basic realm="Bearer scope=\\"x\\"", scope=x, error=y'],
  ['no URL', 'Bearer resource_metadata=there'],
  ['blanks', 'Bearer scope=" "'],
])('%s demands nothing', (_, ...headers) => {
  expect(demand(...headers)).toEqual([undefined, undefined, undefined]);
});

test('metadata are found with any scheme, after those of a token', () => {
  expect(demand(`Basic realm=x, resource_metadata="${META}"`)[1]).toBe(META);
  expect(demand('Basic resource_metadata="https://b.example/"', `Bearer resource_metadata="${META}"`)[1]).toBe(META);
  expect(demand(`resource_metadata="${META}"`)[1]).toBe(META);
});

test('no text of a server makes it fail', () => {
  const written = string({ unit: 'grapheme-ascii' });
  assert(property(written, (text) => demand(text).length === 3));
  const value = string({ unit: 'grapheme-ascii', minLength: 1 }).filter((text) => text.trim() !== '');
  assert(
    property(value, (text) => {
      const quoted = `"${text.replace(/["\\]/g, '\\$&')}"`;
      expect(demand(`Basic realm=${quoted}, Bearer realm=${quoted}, scope=${quoted}`)[0]).toBe(text.trim());
    }),
  );
});
