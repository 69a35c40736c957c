import { afterAll, expect, test } from 'vitest';
import { newFile } from '../e2e/files.ts';
import { API_KEY, answerOf, apiEnv, serveWithApi } from '../e2e/serve.ts';
import {
  answers,
  answersJson,
  type Behaviour,
  cutsStream,
  emptyBody,
  fails,
  failsHtml,
  failsInStream,
  neverAnswers,
  resetsBeforeHeaders,
  resetsDuringHeaders,
  resetsMidStream,
  sendsBody,
  sendsBrokenEvent,
  sendsJson,
  sendsUnknownEvents,
  stallsAfterHeaders,
  stallsMidStream,
} from '../support/behaviours.ts';
import { type FakeApi, type RecordedRequest, startFakeApi } from '../support/fake-api.ts';
import { type McpProcess, startServer } from '../support/mcp-process.ts';

/** The timeout of calls whose failure is a hang. */
const DEADLINE_MS = 500;

/** What a busy machine may add. */
const MARGIN_MS = 900;

/** One failure that the API always shows, and what a caller with `OPENAI_MAX_RETRIES=1` gets. */
interface Failure {
  readonly behaviour: Behaviour;
  /** The behavior for the first request, if it differs. */
  readonly first?: Behaviour;
  /** Requests that reach the API. */
  readonly attempts: 1 | 2;
  /** `data.message` of the failure; HOST is the API's host and port, CODE is what Node.js calls a broken connection. */
  readonly words?: string;
  /** The answer, if there is one. */
  readonly answer?: string;
  /** How long the call waits, at least and at most. */
  readonly waitsMs: readonly [number, number];
  readonly env?: Readonly<Record<string, string>>;
}

const failsAtOnce = { attempts: 1, waitsMs: [0, 0] } as const;
const isAnswered = { attempts: 1, waitsMs: [0, 0] } as const;
/** The first backoff: half a second, reduced by up to a quarter (spec 7). */
const isRetried = { attempts: 2, waitsMs: [375, 500] } as const;
const hangs = {
  attempts: 1,
  waitsMs: [DEADLINE_MS, DEADLINE_MS],
  words:
    'No answer within 0.5 s. Ask a narrower question, use answer_quick, or raise request.timeout_ms (OPENAI_API_TIMEOUT).',
  env: { OPENAI_API_TIMEOUT: String(DEADLINE_MS) },
} as const;

const CHECK_CONFIG = 'Check the model of the profile and the base URL in the configuration (--show-config).';
const CHECK_NETWORK = 'Check the network, the proxy variables and the base URL, then try again.';
const CHECK_BASE_URL = 'Check that the base URL points to a Responses API.';
const RATE_LIMITED = 'Rate limit reached (429); gave up after';
const BROKEN = `Could not get a complete response from HOST (2 attempts, CODE). ${CHECK_NETWORK}`;
const INCOMPLETE = `Could not get a complete response from HOST (2 attempts, the stream ended too early). ${CHECK_NETWORK}`;
const QUOTA =
  'The quota of the account is exhausted (429): You exceeded your current quota. Check your plan and billing; waiting does not help.';
const FILTERED = "The API's content filter stopped the answer. Rephrase the question.";

const FAILURES: Readonly<Record<string, Failure>> = {
  'fails with 400': {
    ...failsAtOnce,
    behaviour: apiError(400, null, 'Something is wrong.'),
    words: `The API rejected the request: Something is wrong. ${CHECK_CONFIG}`,
  },
  'fails with 400 for a parameter that cannot be left out': {
    ...failsAtOnce,
    behaviour: apiError(400, 'invalid_value', 'The input is too long.', {}, 'input'),
    words: `The API rejected the request: The input is too long. ${CHECK_CONFIG}`,
  },
  'fails with 401': {
    ...failsAtOnce,
    behaviour: apiError(401, 'invalid_api_key', `Incorrect API key provided: ${API_KEY}.`),
    words:
      'The API rejected the key in OPENAI_API_KEY (401). It may be mistyped, revoked, missing a permission, or belong to another organization or base URL.',
  },
  'fails with 401 for a missing permission': {
    ...failsAtOnce,
    behaviour: apiError(
      401,
      null,
      'You have insufficient permissions. Missing scopes: api.responses.write. Check your role.',
    ),
    words:
      'The key in OPENAI_API_KEY does not have a required permission (401): Missing scopes: api.responses.write. Add the permission to the key, or use another key.',
  },
  'fails with 403': {
    ...failsAtOnce,
    behaviour: apiError(403, 'unsupported_country_region_territory', 'Country not supported'),
    words:
      "The API denied access (403): Country not supported. Check the permissions of the key's project, and whether your country and model are supported.",
  },
  'fails with 404 for the model': {
    ...failsAtOnce,
    behaviour: apiError(404, 'model_not_found', 'The model `gpt-5.2` does not exist.', {}, 'model'),
    words:
      'The model gpt-5.2 does not exist or this key may not use it: The model `gpt-5.2` does not exist. Change the model of the profile (model_profiles, or MODEL_ANSWER).',
  },
  'fails with 404 for the path': {
    ...failsAtOnce,
    behaviour: apiError(404, null, 'Invalid URL (POST /v2/responses)'),
    words: `The API rejected the request: Invalid URL (POST /v2/responses). ${CHECK_CONFIG}`,
  },
  'fails with 409': {
    ...failsAtOnce,
    behaviour: apiError(409, 'conflict', 'Another request changes this resource.'),
    words: `The API rejected the request: Another request changes this resource. ${CHECK_CONFIG}`,
  },
  'fails with 429 with Retry-After': {
    ...isRetried,
    waitsMs: [1000, 1000],
    behaviour: apiError(429, 'rate_limit_exceeded', 'Rate limit reached.', { 'retry-after': '1' }),
    words: `${RATE_LIMITED} 2 attempts: Rate limit reached. It asks you to wait 1 s; try again after that.`,
  },
  'fails with 429 with Retry-After in milliseconds': {
    ...isRetried,
    waitsMs: [50, 50],
    behaviour: apiError(429, 'rate_limit_exceeded', 'Rate limit reached.', { 'retry-after-ms': '50' }),
    words: `${RATE_LIMITED} 2 attempts: Rate limit reached. It asks you to wait 50 ms; try again after that.`,
  },
  'fails with 429 without Retry-After': {
    ...isRetried,
    behaviour: apiError(429, 'rate_limit_exceeded', 'Rate limit reached.'),
    words: `${RATE_LIMITED} 2 attempts: Rate limit reached. Try again shortly.`,
  },
  'fails with 429 with a Retry-After beyond the deadline': {
    ...failsAtOnce,
    behaviour: apiError(429, 'rate_limit_exceeded', 'Rate limit reached.', { 'retry-after-ms': '1100' }),
    words: `${RATE_LIMITED} 1 attempt: Rate limit reached. It asks you to wait 1.1 s; try again after that.`,
    env: { OPENAI_API_TIMEOUT: '1000' },
  },
  'fails with 429 of a spent quota': {
    ...failsAtOnce,
    behaviour: apiError(429, 'insufficient_quota', 'You exceeded your current quota.', { 'retry-after': '1' }),
    words: QUOTA,
  },
  'fails with 500': {
    ...isRetried,
    behaviour: apiError(500, null, 'The server had an error.'),
    words: 'The API failed; gave up after 2 attempts: The server had an error. Try again shortly.',
  },
  'fails with 503 with a page of HTML': {
    ...isRetried,
    behaviour: failsHtml(503),
    words: 'The API failed; gave up after 2 attempts: HTTP status 503. Try again shortly.',
  },
  'accepts and never answers': { ...hangs, behaviour: neverAnswers() },
  'sends headers and stalls': { ...hangs, behaviour: stallsAfterHeaders() },
  'stalls in the middle of the stream': { ...hangs, behaviour: stallsMidStream() },
  'fails, and then never answers': {
    ...hangs,
    first: apiError(500, null, 'The server had an error.', { 'retry-after-ms': '100' }),
    behaviour: neverAnswers(),
    attempts: 2,
  },
  'resets the connection before the headers': { ...isRetried, behaviour: resetsBeforeHeaders(), words: BROKEN },
  'resets the connection within the headers': { ...isRetried, behaviour: resetsDuringHeaders(), words: BROKEN },
  'resets the connection after the headers': { ...isRetried, behaviour: resetsMidStream(1), words: BROKEN },
  'resets the connection in the middle of the text': { ...isRetried, behaviour: resetsMidStream(), words: BROKEN },
  'cuts the stream before its terminal event': { ...isRetried, behaviour: cutsStream(), words: INCOMPLETE },
  'streams no byte': { ...isRetried, behaviour: emptyBody(), words: INCOMPLETE },
  'sends an empty body': {
    ...failsAtOnce,
    behaviour: sendsBody({ contentType: 'application/json', body: '' }),
    words: `The response could not be read: an empty body. ${CHECK_BASE_URL}`,
  },
  'sends a page of HTML': {
    ...failsAtOnce,
    behaviour: sendsBody({ contentType: 'text/html', body: '<html><body>Please log in</body></html>' }),
    words: `The response could not be read: not JSON: <html><body>Please log in</body></html>. ${CHECK_BASE_URL}`,
  },
  'sends {}': {
    ...failsAtOnce,
    behaviour: sendsJson({}),
    words: `The response could not be read: a response without output. ${CHECK_BASE_URL}`,
  },
  'sends output: [] and no status': {
    ...failsAtOnce,
    behaviour: sendsJson({ output: [] }),
    words: `The response could not be read: an empty response. ${CHECK_BASE_URL}`,
  },
  'sends output: null': {
    ...failsAtOnce,
    behaviour: sendsJson({ id: 'resp_1', status: 'completed', output: null }),
    words: `The response could not be read: a response without output. ${CHECK_BASE_URL}`,
  },
  'sends an invalid event': {
    ...isAnswered,
    behaviour: sendsBrokenEvent(6, answers('Complete nevertheless.')),
    answer: 'Complete nevertheless.',
  },
  'sends unknown events': {
    ...isAnswered,
    behaviour: sendsUnknownEvents(answers('Complete nevertheless.')),
    answer: 'Complete nevertheless.',
  },
  'ignores stream': { ...isAnswered, behaviour: answersJson('Not streamed.'), answer: 'Not streamed.' },
  'ends as failed': {
    ...failsAtOnce,
    behaviour: failsInStream({ code: 'other_failure', message: 'The prompt was not accepted.' }),
    words:
      'The API could not complete the answer: other_failure: The prompt was not accepted. Try again; if it fails again, ask a simpler question or use another model.',
  },
  'ends as failed by the rate limit': {
    ...isRetried,
    waitsMs: [20, 20],
    behaviour: failsInStream({ code: 'rate_limit_exceeded', message: 'Please try again in 20ms.' }),
    words: `${RATE_LIMITED} 2 attempts: Please try again in 20ms. It asks you to wait 20 ms; try again after that.`,
  },
  'ends as failed by the server': {
    ...isRetried,
    behaviour: failsInStream({ code: 'server_error', message: 'An error occurred.' }),
    words: 'The API failed; gave up after 2 attempts: An error occurred. Try again shortly.',
  },
  'ends as failed by a spent quota': {
    ...failsAtOnce,
    behaviour: failsInStream({ code: 'insufficient_quota', message: 'You exceeded your current quota.' }),
    words: QUOTA,
  },
  'ends as incomplete, with text': {
    ...isAnswered,
    behaviour: answers('Half of an', { incomplete: 'max_output_tokens' }),
    answer: 'Half of an\n\n[The answer was cut off at the output token limit (max_output_tokens).]',
  },
  'ends as incomplete, without text': {
    ...failsAtOnce,
    behaviour: answers('', { incomplete: 'max_output_tokens' }),
    words:
      'The model replied without any text, because it was cut off before it wrote any (max_output_tokens). Raise max_output_tokens in the profile, or lower its reasoning_effort.',
  },
  refuses: {
    ...isAnswered,
    behaviour: answers('', { refusal: 'I cannot help with that.' }),
    answer: 'I cannot help with that.',
  },
  'filters the content': {
    ...failsAtOnce,
    behaviour: answers('', { incomplete: 'content_filter' }),
    words: FILTERED,
  },
  'filters the content after some text': {
    ...failsAtOnce,
    behaviour: answers('Some text', { incomplete: 'content_filter' }),
    words: FILTERED,
  },
  'answers nothing': {
    ...failsAtOnce,
    behaviour: answers(''),
    words: 'The model replied without any text. Try again, or rephrase the question.',
  },
};

/** One process and one API for all failures with the same variables. */
const shared = new Map<string, Promise<{ readonly api: FakeApi; readonly server: McpProcess }>>();

afterAll(async () => {
  for (const started of shared.values()) {
    const { api, server } = await started;
    await server.dispose();
    await api.close();
  }
});

function serverWith(env: Readonly<Record<string, string>> = {}) {
  const key = JSON.stringify(env);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const start = async () => {
    const api = await startFakeApi();
    const server = startServer({ env: { ...apiEnv(api), OPENAI_MAX_RETRIES: '1', ...env } });
    // Loads the API client, which takes a while on a busy machine.
    await warmUp(api, server);
    return { api, server };
  };
  const started = start();
  shared.set(key, started);
  return started;
}

test.for(Object.entries(FAILURES))('an API that %s', async ([, failure]) => {
  const { behaviour, first = behaviour, attempts, words, answer, waitsMs, env } = failure;
  const { api, server } = await serverWith(env);
  const before = api.requests.length;
  api.reply(first);
  api.replyAlways(behaviour);

  const askedAt = performance.now();
  const response = await server.callTool('answer', { query: 'What is it?' });
  const tookMs = performance.now() - askedAt;

  if (answer === undefined) {
    const message = words?.replace('HOST', new URL(api.url).host);
    expect(withoutCode(response.error)).toEqual({ code: -32001, message: 'answer failed', data: { message } });
  } else {
    expect(answerOf(response).answer).toBe(answer);
  }
  expect(api.requests.length - before).toBe(attempts);
  const [leastMs, mostMs] = waitsMs;
  expect(tookMs).toBeGreaterThanOrEqual(leastMs);
  expect(tookMs).toBeLessThan(mostMs + MARGIN_MS);
  // Nothing remains open.
  await api.until(() => api.openResponses() === 0);

  // A request to wait concerns only the call that got it.
  api.replyAlways(answers('Works again.'));
  expect(answerOf(await server.callTool('answer', { query: 'And now?' })).answer).toBe('Works again.');
});

test('after all these failures, the process ends in order, and has written nothing to standard error', async () => {
  for (const started of [serverWith(), ...shared.values()]) {
    const { server } = await started;
    server.closeStdin();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.stderr()).toBe('');
    expect(server.stdout).not.toContain(API_KEY);
  }
});

test('a value that the model rejects is omitted, logged once, and not sent by the next call', async () => {
  const { api, server } = await serveWithApi({ env: { OPENAI_MAX_RETRIES: '1' } });
  api.reply(apiError(400, 'unsupported_value', 'Unsupported value.', {}, 'reasoning.effort'));
  api.replyAlways(answers('Here.'));
  expect(answerOf(await server.callTool('answer', { query: 'one' })).answer).toBe('Here.');
  expect(answerOf(await server.callTool('answer', { query: 'two' })).answer).toBe('Here.');
  expect(api.requests.map(({ body }) => body.reasoning)).toEqual([{ effort: 'medium' }, undefined, undefined]);
  const [asked, repeated] = api.requests.map(({ body }) => body);
  expect(repeated).toEqual({ ...asked, reasoning: undefined });
  server.closeStdin();
  await server.exited;
  expect(server.stderr().split('\n')).toEqual([
    expect.stringMatching(
      /^\[openai-responses-mcp\] \S+ WARN openai\(client\): gpt-5\.2 rejected reasoning\.effort="medium"; it is omitted from now on$/,
    ),
    '',
  ]);
});

const TWO_EFFORTS = 'model_profiles: { answer_detailed: { reasoning_effort: xhigh } }\n';

test('a value that the model rejects is omitted only where it is configured: other profiles keep theirs', async () => {
  const { api, server } = await serveWithApi({ args: ['--stdio', '--config', newFile('config.yaml', TWO_EFFORTS)] });
  api.replyWith(({ body }) =>
    effortOf(body) === 'xhigh'
      ? apiError(400, 'unsupported_value', 'Unsupported value.', {}, 'reasoning.effort')
      : answers('Here.'),
  );
  for (const tool of ['answer', 'answer_detailed', 'answer', 'answer_detailed']) {
    expect(answerOf(await server.callTool(tool, { query: 'q' })).answer).toBe('Here.');
  }
  expect(api.requests.map(({ body }) => effortOf(body))).toEqual(['medium', 'xhigh', undefined, 'medium', undefined]);
});

test('a parameter that the model does not support is omitted in every profile of this model', async () => {
  const { api, server } = await serveWithApi({ args: ['--stdio', '--config', newFile('config.yaml', TWO_EFFORTS)] });
  api.replyWith(({ body }) =>
    body.reasoning === undefined
      ? answers('Here.')
      : apiError(400, 'unsupported_parameter', 'Unsupported parameter.', {}, 'reasoning.effort'),
  );
  for (const tool of ['answer', 'answer_detailed']) {
    expect(answerOf(await server.callTool(tool, { query: 'q' })).answer).toBe('Here.');
  }
  expect(api.requests.map(({ body }) => effortOf(body))).toEqual(['medium', undefined, undefined]);
});

test('two simultaneous calls with the same rejection log it once', async () => {
  const { api, server } = await serveWithApi({ env: { OPENAI_MAX_RETRIES: '1' } });
  api.replyWith(({ body }) =>
    body.reasoning === undefined
      ? answers('Here.')
      : apiError(400, 'unsupported_value', 'Unsupported value.', {}, 'reasoning.effort'),
  );
  const calls = ['one', 'two'].map((query) => server.callTool('answer', { query }));
  for (const response of await Promise.all(calls)) expect(answerOf(response).answer).toBe('Here.');
  server.closeStdin();
  await server.exited;
  expect(server.stderr().match(/rejected reasoning\.effort/g)).toHaveLength(1);
});

/** Each rejected parameter costs a retry. */
test('a second parameter that is rejected fails with a message after the last retry', async () => {
  const { api, server } = await serveWithApi({ env: { OPENAI_MAX_RETRIES: '1' } });
  api.reply(
    apiError(400, 'unsupported_value', 'Unsupported effort.', {}, 'reasoning.effort'),
    apiError(400, 'unsupported_value', 'Unsupported verbosity.', {}, 'text.verbosity'),
  );
  const { error } = await server.callTool('answer', { query: 'one' });
  expect(error?.data).toEqual({ message: `The API rejected the request: Unsupported verbosity. ${CHECK_CONFIG}` });
  expect(api.requests).toHaveLength(2);
  api.replyAlways(answers('Here.'));
  expect(answerOf(await server.callTool('answer', { query: 'two' })).answer).toBe('Here.');
});

function effortOf({ reasoning }: RecordedRequest['body']): unknown {
  return (reasoning as { readonly effort?: unknown } | undefined)?.effort;
}

/** Asks until there is an answer: a short timeout may be too short for the first call. */
async function warmUp(api: FakeApi, server: McpProcess): Promise<void> {
  api.replyAlways(answers('Warm.'));
  await server.initialize();
  await expect.poll(() => server.callTool('answer', { query: 'Ready?' }), { timeout: 10_000 }).toHaveProperty('result');
}

/** An error of the API. */
function apiError(
  status: number,
  code: string | null,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  param: string | null = null,
): Behaviour {
  return fails({ status, error: { message, type: 'invalid_request_error', param, code }, headers });
}

/** The name of a reset differs between versions of Node.js. */
function withoutCode(error: object | undefined): unknown {
  return JSON.parse(JSON.stringify(error ?? {}).replace(/\b(?:ECONNRESET|UND_ERR_SOCKET|EPIPE)\)/, 'CODE)'));
}
