import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startLocalIssuer } from '../contract/local-issuer.ts';
import { answerEvents, toSse } from '../support/api-stream.ts';
import { answers } from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import { posixTest } from '../support/platform.ts';
import { type CliResult, runCli } from '../support/run-cli.ts';
import { newFile } from './files.ts';
import { API_KEY, apiEnv, closedPort, fakeApi } from './serve.ts';

interface Report {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly detail: string;
    readonly todo?: string;
  }[];
}

interface ApiOptions {
  /** The only key that is accepted. */
  readonly key?: string;
  readonly models?: readonly string[];
  /** Answers the question without a search. */
  readonly withoutSearch?: boolean;
  /** The error for the lookup of a model, with its status. */
  readonly failsAtModels?: readonly [status: number, message: string];
  /** Never answers the lookup of a model. */
  readonly hangsAtModels?: () => void;
}

/** An API with a list of models, on a port of the test; returns the variables that lead to it. */
async function apiWithModels({ key = API_KEY, models = ['gpt-5.2'], ...options }: ApiOptions = {}) {
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const fail = (status: number, message: string, code: string | null) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code } }));
    };
    const body = await text(request);
    const given = request.headers.authorization;
    const model = /^\/v1\/models\/(.+)$/.exec(request.url ?? '')?.[1];
    if (given !== `Bearer ${key}`) return fail(401, `Incorrect API key provided: ${given}.`, 'invalid_api_key');
    if (request.url === '/v1/models') return response.end('{"data":[]}');
    if (model !== undefined) {
      if (options.hangsAtModels !== undefined) return options.hangsAtModels();
      if (options.failsAtModels !== undefined) return fail(...options.failsAtModels, null);
      if (!models.includes(model)) return fail(404, `The model '${model}' does not exist`, 'model_not_found');
      return response.end(JSON.stringify({ id: model }));
    }
    const citations = [{ url: 'https://nodejs.org/', title: 'Node.js' }];
    const script = { text: 'Node.js 24.', options: options.withoutSearch === true ? {} : { citations } };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      answerEvents(script, { body: JSON.parse(body), number: 1 })
        .map(toSse)
        .join(''),
    );
  };
  const port = await listen(server);
  return { env: { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }, port };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function doctor(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<CliResult> {
  const result = await runCli(['doctor', ...args], { env });
  expect(result.stdout + result.stderr).not.toContain(API_KEY);
  expect(result.stdout + result.stderr).not.toContain(API_KEY.slice(0, 12));
  return result;
}

/** The warnings about the default configuration, which most tests are not about. */
const ABOUT_DEFAULTS = ['profiles', 'tool_errors'];

const linesOf = ({ stdout }: CliResult) =>
  stdout
    .split('\n')
    .slice(0, -1)
    .filter((line) => !ABOUT_DEFAULTS.some((name) => line.startsWith(`note  ${name}: `)));

test('if everything works: one line per check, exit code 0, nothing on stderr', async () => {
  const { env, port } = await apiWithModels();
  const result = await doctor(env);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(result)).toEqual([
    `ok    node: ${process.versions.node}`,
    'ok    configuration: valid (defaults; environment: OPENAI_BASE_URL, OPENAI_API_KEY)',
    'ok    key: found in OPENAI_API_KEY',
    expect.stringMatching(new RegExp(`^ok {4}connection: 127\\.0\\.0\\.1:${port} can be reached$`)),
    'ok    model gpt-5.2: for answer, answer_detailed, answer_quick',
    expect.stringMatching(/^ok {4}web search: answered with 1 source(?:s|\(s\))? in \d+\.\d s$/),
  ]);
});

test('--json prints the same, for programs', async () => {
  const { env } = await apiWithModels();
  const { code, stdout, stderr } = await doctor(env, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { ok, checks } = JSON.parse(stdout) as Report;
  expect(ok).toBe(true);
  expect(checks.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['node', 'ok'],
    ['configuration', 'ok'],
    ['profiles', 'note'],
    ['tool_errors', 'note'],
    ['key', 'ok'],
    ['connection', 'ok'],
    ['model gpt-5.2', 'ok'],
    ['web search', 'ok'],
  ]);
  for (const check of checks) expect(check.detail).toEqual(expect.any(String));
});

test('a file that contains the key is named as its source', async () => {
  const { env } = await apiWithModels();
  const { OPENAI_API_KEY, ...rest } = env;
  const OPENAI_API_KEY_FILE = newFile('key', `${OPENAI_API_KEY}\n`);
  const result = await doctor({ ...rest, OPENAI_API_KEY_FILE });
  expect(result.code).toBe(0);
  expect(linesOf(result)[2]).toBe('ok    key: found in OPENAI_API_KEY_FILE');
});

test('the configuration names the file that was read', async () => {
  const { env } = await apiWithModels({ models: ['gpt-5.2', 'gpt-6'] });
  const config = newFile('config.yaml', 'model_profiles: {answer_detailed: {model: gpt-6}}\n');
  const lines = linesOf(await doctor(env, '--config', config));
  expect(lines[1]).toBe(
    `ok    configuration: valid (defaults; ${config}; environment: OPENAI_BASE_URL, OPENAI_API_KEY; options: --config)`,
  );
  expect(lines.slice(4, 6)).toEqual([
    'ok    model gpt-5.2: for answer, answer_quick',
    'ok    model gpt-6: for answer_detailed',
  ]);
});

describe('exit code 1, and advice, if', () => {
  test('there is no key', async () => {
    const { env } = await apiWithModels();
    const result = await doctor({ OPENAI_BASE_URL: env.OPENAI_BASE_URL });
    expect(result.code).toBe(1);
    expect(linesOf(result).slice(2)).toEqual([
      expect.stringMatching(/^FAIL {2}key: .*OPENAI_API_KEY is not set\. Set it /),
      expect.stringMatching(/^ok {4}connection: /),
      'skip  models: the key is missing',
      'skip  web search: the key is missing',
    ]);
  });

  test('the key is rejected', async () => {
    const { env } = await apiWithModels({ key: 'sk-another' });
    const result = await doctor(env);
    expect(result.code).toBe(1);
    expect(linesOf(result).slice(4)).toEqual([
      expect.stringMatching(/^FAIL {2}model gpt-5\.2: The API rejected the key in OPENAI_API_KEY \(401\)\./),
      'skip  web search: its model cannot be used',
    ]);
  });

  test('the port is closed', async () => {
    const port = await closedPort();
    const result = await doctor({ OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` });
    expect(result).toMatchObject({ code: 1, stderr: '' });
    expect(linesOf(result).slice(3)).toEqual([
      expect.stringMatching(
        new RegExp(`^FAIL {2}connection: .*127\\.0\\.0\\.1:${port}.*ECONNREFUSED.* Check the network`),
      ),
      'skip  models: the API cannot be reached',
      'skip  web search: the API cannot be reached',
    ]);
  });

  test('the key is malformed: no line blames anything else', async () => {
    const { env } = await apiWithModels();
    const result = await doctor({ ...env, OPENAI_API_KEY: 'sk-proj-キー-0123456789' });
    expect(result.code).toBe(1);
    expect(result.stdout).not.toContain('キー');
    const failed = linesOf(result).filter((line) => line.startsWith('FAIL'));
    expect(failed.length).toBeGreaterThan(0);
    for (const line of failed)
      expect(line).toMatch(/OPENAI_API_KEY contains characters that are not valid in an API key/);
    expect(linesOf(result).slice(-2)).toEqual([
      'skip  models: the key is malformed',
      'skip  web search: the key is malformed',
    ]);
  });

  test('the configuration is invalid: reported as a check like the others', async () => {
    const result = await doctor({ OPENAI_API_KEY: API_KEY, MAX_CITATIONS: '99' });
    expect(result.code).toBe(1);
    expect(linesOf(result)[0]).toBe(`ok    node: ${process.versions.node}`);
    expect(result.stdout + result.stderr).toMatch(/FAIL {2}configuration: [\s\S]*MAX_CITATIONS: got "99", expected /);
  });

  test('the configuration is invalid: --json prints JSON nevertheless', async () => {
    const { code, stdout } = await doctor({ OPENAI_API_KEY: API_KEY, MAX_CITATIONS: '99' }, '--json');
    expect(code).toBe(1);
    const { ok, checks } = JSON.parse(stdout) as Report;
    expect(ok).toBe(false);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'configuration', verdict: 'failed' }));
  });
});

test('a server without a list of models is still asked', async () => {
  const api = await fakeApi();
  api.reply(answers('Node.js 24.', { citations: [{ url: 'https://nodejs.org/', title: 'Node.js' }] }));
  const result = await doctor(apiEnv(api));
  expect(result.code).toBe(0);
  expect(
    linesOf(result)
      .slice(3)
      .map((line) => line.slice(0, 16)),
  ).toEqual(['ok    connection', 'skip  model gpt-', 'ok    web search']);
});

test('an answer without a search is a warning', async () => {
  const { env } = await apiWithModels({ withoutSearch: true });
  const result = await doctor(env);
  expect(result.code).toBe(0);
  expect(linesOf(result).at(-1)).toMatch(/^WARN {2}web search: this server did not search/);
});

test('asks one question, of answer_quick, and nothing else that costs', async () => {
  const api = await fakeApi();
  api.reply(answers('Node.js 24.', { search: true }));
  await doctor({ ...apiEnv(api), OPENAI_MAX_RETRIES: '0' });
  expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
});

describe('with a proxy', () => {
  /** A proxy that tunnels every host to one port of this machine. */
  async function tunnelTo(port: number): Promise<string> {
    const proxy = createServer();
    proxy.on('connect', (_, socket) => {
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      for (const end of [socket, onward]) end.on('error', () => undefined);
      onTestFinished(() => void onward.destroy());
    });
    return `http://127.0.0.1:${await listen(proxy)}`;
  }

  test('reports that the route leads through it', async () => {
    const { env, port } = await apiWithModels();
    const HTTP_PROXY = await tunnelTo(port);
    const result = await doctor({ ...env, HTTP_PROXY, OPENAI_BASE_URL: 'http://api.example.test/v1' });
    expect(result.code).toBe(0);
    expect(linesOf(result).slice(3)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^WARN {2}base_url: http:\/\/ sends the key .* unencrypted/)]),
    );
    expect(linesOf(result)[4]).toMatch(/^ok {4}connection: api\.example\.test.*proxy.*can be reached/);
  });

  test('that NO_PROXY bypasses, reports no proxy', async () => {
    const { env } = await apiWithModels();
    const proxy = { HTTP_PROXY: `http://127.0.0.1:${await closedPort()}`, NO_PROXY: '127.0.0.1' };
    const result = await doctor({ ...env, ...proxy });
    expect(result.code).toBe(0);
    expect(linesOf(result)[3]).not.toContain('proxy');
  });
});

test('--offline needs neither key nor network', async () => {
  const result = await runCli(['doctor', '--offline'], { env: { OPENAI_BASE_URL: 'http://nope.invalid/v1' } });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(linesOf(result).at(-1)).toMatch(/^ok {4}adapter: offline/);
});

posixTest('signals').for([['SIGINT'], ['SIGTERM']] as const)(
  '%s ends it at once, with exit code 130',
  async ([signal]) => {
    let reached: () => void = () => {};
    const hanging = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { env } = await apiWithModels({ hangsAtModels: () => reached() });
    const { child, exited, removeHome } = startCleanProcess(['doctor'], { env, timeoutMs: 30_000 });
    onTestFinished(removeHome);
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    await hanging;
    child.kill(signal);
    expect(await exited).toEqual({ code: 130, signal: null });
    const [stdout] = await output;
    expect(stdout).toMatch(/ok {4}connection: [^\n]*\n$/);
  },
);

test.for([[['doctor', 'now']], [['doctor', '--verbose']], [['doctor', '--tool', 'answer']], [['doctor', '--stdio']]])(
  '%j is bad usage',
  async ([args = []]) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^\S[^\n]*\nTry openai-responses-mcp --help\n$/);
  },
);

test('a variable whose name is mistyped is named at the start, without its value', async () => {
  const env = { MCP_TOOL_ERROR: 'my-secret', OPENAI_ORGANIZATION: 'x', MCP_TIMEOUT: '1' };
  const started = await runCli(['--stdio'], { env });
  expect(started).toMatchObject({ code: 0, stdout: '' });
  expect(started.stderr).toMatch(
    /^\[openai-responses-mcp\] \S+ WARN MCP_TOOL_ERROR: unknown variable; did you mean MCP_TOOL_ERRORS\?\n$/,
  );
  const result = await runCli(['doctor', '--offline'], { env });
  expect(result.stdout).toContain(
    'WARN  configuration: MCP_TOOL_ERROR: unknown variable; did you mean MCP_TOOL_ERRORS?\n',
  );
  expect(result.stdout + result.stderr).not.toContain('my-secret');
});

test('http.oauth: the keys of the issuer are read, and it is a failure if they cannot be', async () => {
  const issuer = await startLocalIssuer();
  onTestFinished(() => issuer.close());
  const { url, pages } = issuer;
  pages.set('/.well-known/oauth-authorization-server', { issuer: url, jwks_uri: `${url}/keys` });
  pages.set('/keys', { keys: [{ kty: 'RSA' }] });
  const config = newFile('config.yaml', `http: { oauth: { issuer: "${url}", audience: "https://mcp.example/mcp" } }\n`);
  const run = () => runCli(['doctor', '--offline', '--config', config]);
  const working = await run();
  expect(working.stdout).toContain(`ok    oauth: ${url} publishes 1 key; tokens must be for https://mcp.example/mcp\n`);
  expect(working.code).toBe(0);
  pages.set('/keys', 503);
  const failing = await run();
  expect(failing.stdout).toContain(
    `FAIL  oauth: the keys of ${url} cannot be read, so access tokens are refused (${url}/keys has the status 503).`,
  );
  expect(failing.code).toBe(1);
});
