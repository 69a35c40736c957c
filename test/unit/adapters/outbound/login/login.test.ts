import { expect, test } from 'vitest';
import { registeredClient } from '../../../../../src/adapters/outbound/login/login.ts';
import { loginAt } from '../../../../support/fake-issuer.ts';

const URI = 'http://127.0.0.1:3918/callback';
const USE = { issuer: 'https://auth.example.com', redirectUrl: URI, scopes: ['read'] };
const CLIENT = { client_id: 'a', redirect_uris: [URI] };

test.each<[string, object, Partial<typeof USE>, boolean]>([
  ['the same use', {}, {}, true],
  ['the same use of the same scopes', { scope: 'read write' }, {}, true],
  ['one of its redirect URIs', { redirect_uris: ['https://a.example/', URI] }, {}, true],
  ['a secret without an end', { client_secret: 's', client_secret_expires_at: 0 }, {}, true],
  ['another issuer', {}, { issuer: 'https://auth.example.com/other' }, false],
  ['another port', {}, { redirectUrl: URI.replace('3918', '3919') }, false],
  ['more scopes', { scope: 'read' }, { scopes: ['read', 'write'] }, false],
  ['a secret that ends', { client_secret: 's', client_secret_expires_at: 1 }, {}, false],
  ['a client that was not registered', { redirect_uris: undefined }, {}, false],
])('a registered client is used again for %s: %o %o %s', (_, client, use, isUsed) => {
  const login = { ...loginAt('https://auth.example.com'), client: { ...CLIENT, ...client } };
  expect(registeredClient(login, { ...USE, ...use })).toEqual(isUsed ? login.client : undefined);
});
