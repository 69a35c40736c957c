import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nock from 'nock';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RequestOptions } from '../../src/adapters/outbound/openai/request-body.ts';
import { never } from '../../src/application/async/deadline.ts';
import { createContainer } from '../../src/wiring/container.ts';
import { bootstrap } from '../../src/wiring/runtime.ts';
import { toApiResponse } from '../support/api-response.ts';
import { answers } from '../support/behaviours.ts';
import { type FakeApi, type RecordedRequest, startFakeApi } from '../support/fake-api.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { callerOf } from '../support/origins.ts';
import { HOME_VARIABLE } from '../support/platform.ts';
import { API_KEY, type Asked, ask, openAiSearch, searchRequest } from './search-kit.ts';

const BASE_URL = 'https://api.example.test/v1';

beforeEach(() => {
  nock.disableNetConnect();
});

afterEach(() => {
  nock.cleanAll();
  vi.unstubAllEnvs();
});

afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

/** What was sent over the wire. */
interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: string;
}

/** Answers one request to any path of the host, and returns that request. */
function interceptOne(origin = 'https://api.example.test'): () => WireRequest {
  const seen: WireRequest[] = [];
  nock(origin)
    .post(/.*/)
    .reply(200, toApiResponse({ text: 'Hello.', options: {} }, { body: {}, number: 1 }))
    .on('request', (request, _interceptor, body: string) => {
      const headers = request.headers as Record<string, string | undefined>;
      seen.push({ method: request.method, url: `${origin}${request.path}`, headers, rawBody: body });
    });
  return () => {
    const [request, ...others] = seen;
    if (request === undefined || others.length > 0) throw new Error(`${seen.length} requests went over the wire.`);
    return request;
  };
}

async function bodyOf(asked: Asked, options: Partial<RequestOptions> = {}): Promise<Record<string, unknown>> {
  const sent = interceptOne();
  const search = openAiSearch(BASE_URL, {
    fetch: globalThis.fetch,
    request: { store: false, domainFilter: 'hint', ...options },
  });
  expect((await ask(search, searchRequest(asked))).isOk()).toBe(true);
  return JSON.parse(sent().rawBody) as Record<string, unknown>;
}

const DOMAINS = { question: { domains: ['jma.go.jp', 'tenki.jp'] } };

/** Without a location, the API searches as if the user were in the United States. */
const SEARCH_TOOL = { type: 'web_search', user_location: { type: 'approximate' } };

describe('the request on the wire', () => {
  // S35
  test('is exactly these bytes', async () => {
    const sent = interceptOne();
    await ask(openAiSearch(BASE_URL, { fetch: globalThis.fetch }), searchRequest(DOMAINS));
    expect(sent().method).toBe('POST');
    expect(sent().url).toBe('https://api.example.test/v1/responses');
    expect(sent().rawBody).toBe(
      '{"model":"gpt-5.2","instructions":"Answer well.",' +
        '"input":"What is new in Node.js 24?\\n\\n' +
        '[Search hints] recency_days=60; max_results=5; domains=jma.go.jp, tenki.jp\\n' +
        '[Today] 2026-11-21 (Asia/Tokyo)",' +
        '"tools":[{"type":"web_search","user_location":{"type":"approximate"}}],"include":["web_search_call.action.sources"],' +
        '"text":{"verbosity":"medium"},"reasoning":{"effort":"medium"},"store":false,"stream":true}',
    );
  });

  test('contains the key as a bearer token, and JSON', async () => {
    const sent = interceptOne();
    await ask(openAiSearch(BASE_URL, { fetch: globalThis.fetch }));
    expect(sent().headers).toMatchObject({ authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' });
  });

  test('contains no organization and no project by default, not even from the variables of the package', async () => {
    vi.stubEnv('OPENAI_ORG_ID', 'org-of-the-shell');
    vi.stubEnv('OPENAI_PROJECT_ID', 'proj-of-the-shell');
    const sent = interceptOne();
    await ask(openAiSearch(BASE_URL, { fetch: globalThis.fetch }));
    expect(sent().headers).not.toHaveProperty('openai-organization');
    expect(sent().headers).not.toHaveProperty('openai-project');
  });

  test('keeps a question in Japanese unchanged', async () => {
    const body = await bodyOf({ question: { query: '今日の東京の天気は？ 🌤️\n一言で。' } });
    expect(body.input).toBe(
      '今日の東京の天気は？ 🌤️\n一言で。\n\n[Search hints] recency_days=60; max_results=5\n[Today] 2026-11-21 (Asia/Tokyo)',
    );
  });

  // S33
  test('contains the hints as given, and domains only if given', async () => {
    const { input } = await bodyOf({ question: { recencyDays: 0, maxResults: 12, domains: [] }, today: '2026-01-02' });
    expect(input).toContain('recency_days=0; max_results=12\n[Today] 2026-01-02 (Asia/Tokyo)');
    expect(input).not.toContain('domains');
  });
});

describe('the body for each kind of model', () => {
  const COMMON = {
    instructions: 'Answer well.',
    input: expect.stringContaining('What is new in Node.js 24?'),
    tools: [SEARCH_TOOL],
    include: ['web_search_call.action.sources'],
    store: false,
    stream: true,
  };
  const BOTH = { text: { verbosity: 'high' }, reasoning: { effort: 'low' } };

  test.each([
    ['gpt-5.2', BOTH],
    ['gpt-4.1', {}],
    ['o3', { reasoning: { effort: 'low' } }],
  ])('%s', async (model, extras) => {
    const body = await bodyOf({ profile: { model, reasoningEffort: 'low', verbosity: 'high' } });
    expect(body).toEqual({ model, ...COMMON, ...extras });
  });

  test('limits, if the profile has them', async () => {
    const body = await bodyOf({ profile: { maxOutputTokens: 4096, maxToolCalls: 3, searchContextSize: 'low' } });
    expect(body).toMatchObject({
      max_output_tokens: 4096,
      max_tool_calls: 3,
      tools: [{ ...SEARCH_TOOL, search_context_size: 'low' }],
    });
  });
});

describe('what the configuration adds to the body', () => {
  test('store', async () => {
    expect(await bodyOf({}, { store: true })).toMatchObject({ store: true });
  });

  test('the location of the user', async () => {
    const userLocation = { country: 'JP', region: 'Tokyo', city: 'Minato', timezone: 'Asia/Tokyo' };
    const { tools } = await bodyOf({}, { userLocation });
    expect(tools).toEqual([
      {
        type: 'web_search',
        user_location: {
          type: 'approximate',
          country: 'JP',
          region: 'Tokyo',
          city: 'Minato',
          timezone: 'Asia/Tokyo',
        },
      },
    ]);
  });

  test('domains as a filter, if configured: in ASCII, and still a hint', async () => {
    const { tools, input } = await bodyOf(
      { question: { domains: ['jma.go.jp', '例え.jp', 'bücher.example'] } },
      { domainFilter: 'strict' },
    );
    expect(tools).toEqual([
      {
        ...SEARCH_TOOL,
        filters: { allowed_domains: ['jma.go.jp', 'xn--r8jz45g.jp', 'xn--bcher-kva.example'] },
      },
    ]);
    expect(input).toContain('domains=jma.go.jp, 例え.jp, bücher.example');
  });

  test('no filter if no domains are given', async () => {
    expect((await bodyOf({}, { domainFilter: 'strict' })).tools).toEqual([SEARCH_TOOL]);
  });
});

describe('the request of the composed program', () => {
  const home = mkdtempSync(join(tmpdir(), 'contract-home-'));
  let api: FakeApi;

  beforeEach(async () => {
    nock.enableNetConnect('127.0.0.1');
    api = await startFakeApi({ always: answers('Hello.') });
  });

  afterEach(() => api.close());

  afterAll(() => rmSync(home, { recursive: true }));

  /** Asks through the complete composition, as `main` builds it. */
  async function askComposed(environment: Readonly<Record<string, string>>): Promise<RecordedRequest | undefined> {
    vi.stubEnv(HOME_VARIABLE, home);
    const validated = await bootstrap({
      environment: { OPENAI_API_KEY: API_KEY, OPENAI_MAX_RETRIES: '0', ...environment },
      commandLine: {},
      version: '0.9.0',
    });
    if ('problems' in validated) throw new Error(JSON.stringify(validated.problems));
    const { application, close } = createContainer(validated.value, home, () =>
      Promise.reject(new Error('there are no servers')),
    );
    await application().answerQuery(
      {
        by: callerOf('test'),
        tool: 'answer',
        args: { query: 'Hello?', domains: ['jma.go.jp', 'tenki.jp'] },
        observer: { onProgress: () => undefined },
      },
      never(),
    );
    await close();
    validated.value.close();
    return api.requests[0];
  }

  test('has the defaults of the contract', async () => {
    const sent = await askComposed({ OPENAI_BASE_URL: api.url });
    expect(sent?.headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(sent?.body).toMatchObject({
      model: 'gpt-5.2',
      input: expect.stringMatching(
        /^Hello\?\n\n\[Search hints\] recency_days=60; max_results=5; domains=jma.go.jp, tenki.jp\n/,
      ),
      reasoning: { effort: 'medium' },
      text: { verbosity: 'medium' },
      store: false,
      stream: true,
    });
  });

  test('is sent to OpenAI by default', async () => {
    const proxy = await startForwardProxy();
    await askComposed({ HTTPS_PROXY: proxy.url });
    await proxy.close();
    expect(proxy.seen).toEqual(['CONNECT api.openai.com:443']);
  });

  test.each([
    ['/v1', '/v1/responses'],
    ['/v1/', '/v1/responses'],
    ['', '/responses'],
    ['/openai/v1/', '/openai/v1/responses'],
  ])('is sent to the base URL with the path "%s"', async (basePath, path) => {
    const { origin } = new URL(api.url);
    const sent = await askComposed({ OPENAI_BASE_URL: `${origin}${basePath}` });
    expect(sent).toMatchObject({ method: 'POST', path, headers: { host: new URL(origin).host } });
  });

  test('contains organization and project if they are configured', async () => {
    const environment = { OPENAI_ORG_ID: 'org-abc', OPENAI_PROJECT_ID: 'proj_def', OPENAI_BASE_URL: api.url };
    const sent = await askComposed(environment);
    expect(sent?.headers).toMatchObject({ 'openai-organization': 'org-abc', 'openai-project': 'proj_def' });
  });
});
