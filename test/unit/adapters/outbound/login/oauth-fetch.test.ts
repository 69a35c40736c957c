import { expect, test } from 'vitest';
import { readDocument } from '../../../../../src/adapters/outbound/login/oauth-fetch.ts';

const asked = JSON.stringify({ redirect_uris: ['http://127.0.0.1:3918/callback'] });
const client = { client_id: 'a', redirect_uris: ['http://127.0.0.1:3918/callback'] };
const tokens = { access_token: 'a', token_type: 'Bearer' };
const metadata = {
  issuer: 'https://a.example',
  authorization_endpoint: 'https://a.example/authorize',
  token_endpoint: 'https://a.example/token',
  response_types_supported: ['code'],
};
const resource = { resource: 'https://a.example/mcp' };

test.each([
  [
    'a registration',
    { client_id: 'a', redirect_uris: null, client_secret: '', grant_types: null, client_uri: ' ' },
    asked,
    client,
  ],
  [
    'odd URLs of a registration',
    { ...client, logo_uri: 'none', contacts: [null, ''] },
    asked,
    { ...client, contacts: [] },
  ],
  ['tokens', { access_token: 'a', token_type: null, refresh_token: null, scope: '', expires_in: '' }, '', tokens],
  ['scopes as a list', { ...tokens, scope: ['a', null, 'b'] }, '', { ...tokens, scope: 'a b' }],
  ['tokens with a member of another kind', { ...tokens, id_token: {} }, '', tokens],
  ['metadata', { ...metadata, scopes_supported: null, service_documentation: '' }, undefined, metadata],
  [
    'metadata with a member of another kind',
    { ...metadata, grant_types_supported: { all: true } },
    undefined,
    metadata,
  ],
  ['metadata of a server', { ...resource, jwks_uri: '', scopes_supported: null }, undefined, resource],
])('null, empty and unusable members are absent in %s', (_, json, body, document) => {
  expect(readDocument(json, body)).toEqual(document);
});

test('a required member is never left out, so that its problem is reported', () => {
  expect(readDocument({ access_token: {} }, '')).toEqual({ access_token: {}, token_type: 'Bearer' });
});
