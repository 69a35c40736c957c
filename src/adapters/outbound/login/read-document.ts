import { isSpecType } from '@modelcontextprotocol/client';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { issuerId, usableSeconds } from './login.ts';

/** Documents of servers and issuers: the required members, and whether an object has the form of the document. */
const DOCUMENTS = {
  tokens: { isValid: isSpecType.OAuthTokens, required: { access_token: 'a', token_type: 'Bearer' } },
  registration: { isValid: isSpecType.OAuthClientInformationFull, required: { client_id: 'a', redirect_uris: [] } },
  metadata: {
    isValid: isSpecType.OAuthMetadata,
    required: {
      issuer: 'https://a.example',
      authorization_endpoint: 'https://a.example',
      token_endpoint: 'https://a.example',
      response_types_supported: ['code'],
    },
  },
  resource: { isValid: isSpecType.OAuthProtectedResourceMetadata, required: { resource: 'https://a.example' } },
} as const;

/** The times in responses, which are often written as texts. */
const TIMES = ['expires_in', 'client_id_issued_at', 'client_secret_expires_at'];

/** Reads the answer to a request of a login. `asked` is the body of the request; a registration repeats what it does not change. */
export function readDocument(json: JsonObject, asked: unknown): JsonObject {
  const read = Object.fromEntries(
    Object.entries(json)
      .map(([name, value]) => [name, withoutEmpty(TIMES.includes(name) ? usableSeconds(value) : value)] as const)
      .filter(([, value]) => value !== undefined),
  );
  if (Array.isArray(read.scope)) read.scope = read.scope.join(' ');
  const registered = typeof asked === 'string' ? parseJson(asked) : undefined;
  if (isObject(registered)) return conforming('registration', { redirect_uris: registered.redirect_uris, ...read });
  if (asked !== undefined) return conforming('tokens', { token_type: 'Bearer', ...read });
  // The client compares the issuer that the server names with that of the issuer's document.
  const { issuer, authorization_servers: issuers } = read;
  if (typeof issuer === 'string') return conforming('metadata', { ...read, issuer: issuerId(issuer) });
  const ids = Array.isArray(issuers) && issuers.map((one) => (typeof one === 'string' ? issuerId(one) : one));
  return conforming('resource', { ...read, ...(ids && { authorization_servers: ids }) });
}

/** An empty value is absent, because issuers write null or an empty text for a member that they do not use. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || (typeof value === 'string' && value.trim() === '')) return undefined;
  return Array.isArray(value) ? value.filter((entry) => withoutEmpty(entry) !== undefined) : value;
}

/** The document without optional members of another form, which the official client would refuse it for. */
function conforming(kind: keyof typeof DOCUMENTS, document: JsonObject): JsonObject {
  const { isValid, required } = DOCUMENTS[kind];
  if (isValid(document)) return document;
  const members = Object.entries(document);
  return Object.fromEntries(
    members.filter(([name, value]) => name in required || isValid({ ...required, [name]: value })),
  );
}
