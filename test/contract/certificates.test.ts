import { Agent, fetch as undiciFetch } from 'undici';
import { expect, test } from 'vitest';
import { messageFor } from '../../src/adapters/inbound/words/error-messages.ts';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { oauthFetch } from '../../src/adapters/outbound/login/oauth-fetch.ts';
import { RemoteToolServer } from '../../src/adapters/outbound/mcp-client/remote-tool-server.ts';
import { readKeySet } from '../../src/adapters/outbound/oauth/issuer-keys.ts';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';
import { OpenAiProbe } from '../../src/adapters/outbound/openai/openai-probe.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { newCertificate, serveHttps } from '../support/certificates.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { EventLog } from './describe-tool-server.ts';
import { API_KEY, errorOf, never } from './search-kit.ts';

const ROOT = newCertificate();
const LEAF = newCertificate({ issuer: ROOT });
const CHAIN = { ...LEAF, cert: `${LEAF.cert}${ROOT.cert}` };
const EXPIRED = newCertificate({ issuer: ROOT, notAfter: '20200101000000Z' });
const OTHER_HOST = newCertificate({ issuer: ROOT, host: 'other.example' });

const ADVICE =
  ": the certificate is of an unknown authority; name a file with the authority's certificate in NODE_EXTRA_CA_CERTS";

/** What each part of the program says about a server, the authority of whose certificate is known, or not. */
const PARTS = {
  'the API': async (url: string, agent: Agent) => {
    const { fetch, close } = createApiFetch(agent);
    const options = { baseUrl: url, apiKey: API_KEY, apiKeyVariable: 'OPENAI_API_KEY', route: new URL(url).host };
    const error = errorOf(await new OpenAiProbe({ ...options, fetch, redactor: createRedactor() }).reach(never()));
    await close();
    return error.kind === 'aborted' ? 'aborted' : messageFor(error);
  },
  'a remote server': (url: string, agent: Agent) => connect(url, agent, 'auto'),
  'a remote server with SSE': (url: string, agent: Agent) => connect(url, agent, 'sse'),
  'the keys of an issuer': async (url: string, agent: Agent) =>
    errorOf(await readKeySet({ issuer: url, jwksUri: `${url}/keys`, fetch: fetchBy(agent) }, never())),
  'the issuer of a login': (url: string, agent: Agent) =>
    oauthFetch(url, { fetch: fetchBy(agent), clock: new SystemClock() }, never())(url).then(String, String),
};

const fetchBy = (dispatcher: Agent) =>
  ((input: string, init: object) => undiciFetch(input, { ...init, dispatcher })) as unknown as typeof fetch;

async function connect(url: string, agent: Agent, transport: 'auto' | 'sse'): Promise<string> {
  const identity = { name: 'contract', version: '1.0.0' };
  const options = { name: 'remote', url, transport, headers: {}, maxBytes: 1000, identity, clock: new SystemClock() };
  const server = new RemoteToolServer({ logger: new RecordingLogger(), ...options, fetch: fetchBy(agent) });
  return errorOf(await server.connect(new EventLog(), never()));
}

test.each(Object.entries(PARTS))('%s of an unknown authority: the code, and what to do', async (_, message) => {
  const shown = await message(await serveHttps(ROOT), new Agent());
  expect(shown).toContain(`DEPTH_ZERO_SELF_SIGNED_CERT${ADVICE}`);
});

test.each([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', LEAF],
  ['SELF_SIGNED_CERT_IN_CHAIN', CHAIN],
])('a certificate with %s is of an unknown authority too', async (code, certificate) => {
  const shown = await PARTS['a remote server'](await serveHttps(certificate), new Agent());
  expect(shown).toContain(code + ADVICE);
});

test.each([
  ['CERT_HAS_EXPIRED', EXPIRED],
  ['ERR_TLS_CERT_ALTNAME_INVALID', OTHER_HOST],
])('a certificate that is not valid has its code alone: %s', async (code, certificate) => {
  const agent = new Agent({ connect: { ca: ROOT.cert } });
  const shown = await PARTS['a remote server'](await serveHttps(certificate), agent);
  expect(shown).toContain(code);
  expect(shown).not.toContain('NODE_EXTRA_CA_CERTS');
});
