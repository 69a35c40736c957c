import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { err, ok } from 'neverthrow';
import { describe, expect, onTestFinished, test } from 'vitest';
import { routeTo } from '../../src/adapters/outbound/network/addresses.ts';
import { createProxyFetch } from '../../src/adapters/outbound/network/proxy-fetch.ts';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';
import { OpenAiProbe, type OpenAiProbeOptions } from '../../src/adapters/outbound/openai/openai-probe.ts';
import { FakeApiProbe, type FakeApiProbeOptions } from '../support/fake-api-probe.ts';
import { freePort } from '../support/free-port.ts';
import { redactorOf } from '../support/redactor.ts';
import { type ApiState, describeApiProbe } from './describe-api-probe.ts';
import { API_KEY, errorOf, never } from './search-kit.ts';

interface Api {
  readonly url: string;
  /** `GET /v1/models`, in order, with the authorization of each. */
  readonly requests: string[];
  readonly keys: (string | undefined)[];
}

/** A server of the test. */
async function serves(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Api> {
  const [requests, keys]: [string[], (string | undefined)[]] = [[], []];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    keys.push(request.headers.authorization);
    answer(request, response);
  });
  return { url: `${await listen(server)}/v1`, requests, keys };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const says = (status: number, body: unknown) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const fails = (status: number, error: object) => says(status, { error });

function probeOf(baseUrl: string, over: Partial<OpenAiProbeOptions> = {}): OpenAiProbe {
  return new OpenAiProbe({
    baseUrl,
    apiKey: API_KEY,
    apiKeyVariable: 'OPENAI_API_KEY',
    route: new URL(baseUrl).host,
    fetch: createApiFetch().fetch,
    redactor: redactorOf(over.apiKey ?? API_KEY),
    ...over,
  });
}

/** An API that no process serves. */
const closedUrl = async () => `http://127.0.0.1:${await freePort()}/v1`;

/** The adapter on a server in the state that the contract suite asks for. */
async function startOpenAiProbe(state: ApiState): Promise<OpenAiProbe> {
  const api = await serves(ANSWERS[state]);
  return probeOf(api.url);
}

const ANSWERS: Readonly<Record<ApiState, Parameters<typeof serves>[0]>> = {
  'has every model': says(200, {}),
  'lists no models': says(404, 'Not Found'),
  'refuses the key': fails(401, { message: 'No.', type: 'invalid_request_error', code: 'invalid_api_key' }),
  'does not respond': () => {},
};

const CONFIGURED: Readonly<Record<ApiState, FakeApiProbeOptions>> = {
  'has every model': {},
  'lists no models': { findModel: () => ok('unknown') },
  'refuses the key': {
    findModel: () => err({ kind: 'rejected_api_key', variable: 'OPENAI_API_KEY', detail: 'No.' }),
  },
  'does not respond': { reach: 'hangs', findModel: () => 'hangs' },
};

describeApiProbe('OpenAiProbe', startOpenAiProbe);
describeApiProbe('FakeApiProbe', async (state) => new FakeApiProbe(CONFIGURED[state]));

describe('reaching the API', () => {
  test.each([200, 401, 404, 503])('succeeds with any status: %d', async (status) => {
    const api = await serves(says(status, {}));
    expect((await probeOf(api.url).reach(never()))._unsafeUnwrap()).toBe(status);
    expect(api.requests).toEqual(['GET /v1/models']);
  });

  test('needs no key and sends none', async () => {
    const api = await serves(says(401, {}));
    await probeOf(api.url).reach(never());
    expect(api.keys).toEqual([undefined]);
  });

  test('a closed port is a failed connection', async () => {
    const url = await closedUrl();
    expect(errorOf(await probeOf(url).reach(never()))).toMatchObject({
      kind: 'connection_failed',
      host: new URL(url).host,
      detail: 'ECONNREFUSED',
    });
  });

  test('a server without TLS is a failed connection', async () => {
    const api = await serves(says(200, {}));
    const outcome = await probeOf(api.url.replace('http:', 'https:')).reach(never());
    expect(errorOf(outcome)).toMatchObject({ kind: 'connection_failed', detail: expect.stringMatching(/SSL|EPROTO/) });
  });

  test('can be aborted in the middle of a body', async () => {
    const controller = new AbortController();
    const api = await serves((_, response) => {
      response.writeHead(200).write('{');
      setImmediate(() => controller.abort());
    });
    expect(errorOf(await probeOf(api.url).reach(controller.signal))).toEqual({ kind: 'aborted' });
  });
});

describe('a model', () => {
  test('is found', async () => {
    const api = await serves(says(200, { id: 'gpt-5.2', object: 'model' }));
    expect((await probeOf(api.url).findModel('gpt-5.2', never()))._unsafeUnwrap()).toBe('found');
    expect(api.requests).toEqual(['GET /v1/models/gpt-5.2']);
    const ending = await serves(says(200, { id: 'gpt-5', object: 'model', shutdown_date: '2026-12-11' }));
    const found = (await probeOf(ending.url).findModel('gpt-5', never()))._unsafeUnwrap();
    expect(found).toEqual({ shutsDownOn: '2026-12-11' });
    expect(api.keys).toEqual([`Bearer ${API_KEY}`]);
  });

  test('with special characters in its id is looked up by that id', async () => {
    const api = await serves(says(200, {}));
    await probeOf(api.url).findModel('ft:gpt-5/x y?#', never());
    expect(api.requests).toEqual(['GET /v1/models/ft%3Agpt-5%2Fx%20y%3F%23']);
  });

  test.each([
    [
      'an error about the path',
      { error: { message: 'Invalid URL (GET /v1/models/x)', type: 'invalid_request_error' } },
    ],
    ['no error', 'Not Found'],
  ])('is unknown to a server that has no list: 404 with %s', async (_, body) => {
    const api = await serves(says(404, body));
    expect((await probeOf(api.url).findModel('gpt-5.2', never()))._unsafeUnwrap()).toBe('unknown');
  });

  const gone = `The model 'gpt-5.2' does not exist: ${API_KEY}`;
  const wrong = `Incorrect API key provided: ${API_KEY}.`;
  const permission = 'You have insufficient permissions. Missing scopes: api.model.read. Check your role.';

  test.each<[string, number, object | undefined, object]>([
    ['does not exist', 404, { message: gone, code: 'model_not_found' }, { kind: 'model_not_found', model: 'gpt-5.2' }],
    ['a rejected key', 401, { message: wrong }, { kind: 'rejected_api_key', variable: 'OPENAI_API_KEY' }],
    [
      'a missing permission',
      401,
      { message: permission },
      { kind: 'missing_permission', detail: 'Missing scopes: api.model.read' },
    ],
    ['a failure of the API', 500, { message: `No, ${API_KEY}.`, code: null }, { kind: 'server_error' }],
    ['a page instead of JSON', 200, undefined, { kind: 'unreadable_reply', detail: '<html>Welcome</html>' }],
  ])('is not found: %s, without the key', async (_, status, error, expected) => {
    const type = 'invalid_request_error';
    const page = (_: IncomingMessage, response: ServerResponse) => response.end('<html>Welcome</html>');
    const api = await serves(error === undefined ? page : fails(status, { type, ...error }));
    const failure = errorOf(await probeOf(api.url).findModel('gpt-5.2', never()));
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain(API_KEY);
  });
});

describe('a proxy', () => {
  test('that cannot be reached is named in the failure', async () => {
    const gone = (await closedUrl()).replace('/v1', '');
    const baseUrl = 'http://api.example.test/v1';
    const probe = probeOf(baseUrl, {
      route: routeTo(baseUrl, gone),
      fetch: createProxyFetch({ HTTP_PROXY: gone }).fetch,
    });
    expect(errorOf(await probe.reach(never()))).toMatchObject({
      kind: 'connection_failed',
      host: `api.example.test via the proxy ${new URL(gone).host}`,
    });
  });
});
