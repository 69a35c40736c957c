import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Behaviour, fails } from '../support/behaviours.ts';
import { calls, reasons, says } from '../support/conversation-items.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { HOME_VARIABLE } from '../support/platform.ts';
import { STDIO_SERVER } from '../support/process-tree.ts';
import { runCli } from '../support/run-cli.ts';
import { serveHttpRequests } from '../support/servers/remote-servers.ts';
import { conversationApi } from './grounding/kit.ts';
import { newHome, open } from './login/kit.ts';
import { serve } from './serve.ts';

/** Keys, tokens and passwords of the program, by the place where they are configured or come from. */
const OWN = {
  'API key': 'sk-proj-PlantedApiKey0123456789',
  'key that is configured nowhere': 'sk-proj-PlantedElsewhere0123',
  'token of alice': 'planted-token+alice/0123456789==',
  'token of bob': 'planted-token-bob-0123456789',
  'password of redis': 'planted@redis/passw0rd',
  'password of the proxy': 'planted:proxy/passw0rd',
  'secret of the client': 'planted-configured-secret/1+=',
  'code of a login': 'planted-code/1+=',
  'secret of the registration': 'planted-registered-secret/1+=',
  'access token': 'planted-access-token/1+=',
  'refresh token': 'planted-refresh-token/1+=',
  'renewed access token': 'planted-renewed-access/2+=',
  'renewed refresh token': 'planted-renewed-refresh/2+=',
  'access token of the client': 'planted-machine-token/1+=',
};

/** Secrets of servers. */
const OF_SERVERS = {
  'value of envs': 'planted value "of" envs\\1',
  'variable of envs': 'planted-variable-of-envs+=1',
  'header with a scheme': 'planted-bearer-of-header-1',
  'password of Basic': 'planted-basic-passw0rd',
  'other header': 'planted other header 1',
  'variable in args': 'planted-variable-in-args-1',
  'variable in a URL': 'planted/variable+in=url-1',
  'parameter of a URL': 'planted-parameter-of-url-1',
  'value of envs after a reload': 'planted-after-reload-1',
};

/** The spellings in which a secret counts as shown: those that are masked. */
function spellingsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [secret, escaped, encodeURIComponent(secret), base64];
}

/** Collects which secret was found in which text. */
class Reader {
  readonly leaks: string[] = [];
  readonly #own: Record<string, string> = { ...OWN };

  /** Another secret of the program, which the test does not choose. */
  plant(name: string, secret: string): void {
    expect(secret).not.toBe('');
    this.#own[name] = secret;
  }

  /** A text of the program, or what the model reads. */
  read(where: string, shown: string): void {
    this.#search(where, shown, { ...this.#own, ...OF_SERVERS });
  }

  /** A result or a list of tools: it contains what the server sent, except for keys of the program. */
  readResult(where: string, shown: string): void {
    this.#search(where, shown, this.#own);
  }

  #search(where: string, shown: string, secrets: Readonly<Record<string, string>>): void {
    expect(shown.length, `${where} is empty`).toBeGreaterThan(0);
    for (const [name, secret] of Object.entries(secrets)) {
      const at = spellingsOf(secret)
        .map((spelling) => shown.indexOf(spelling))
        .find((index) => index >= 0);
      if (at !== undefined) this.leaks.push(`${name} in ${where}: ${shown.slice(Math.max(0, at - 60), at + 40)}`);
    }
  }
}

/** A message of the program. */
interface Received {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

const METADATA = '/.well-known/oauth-protected-resource';
const TOOL = { inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };

/** What a remote MCP server answers that repeats its headers and its URL. The path says how; `issuers` has those that need a login. */
function indiscreetReply(
  { url = '', headers, method: verb }: IncomingMessage,
  response: ServerResponse,
  body: unknown,
  issuers: Readonly<Record<string, FakeIssuer>>,
) {
  const { pathname } = new URL(url, 'http://localhost');
  const { authorization = '', host, 'x-other': other } = headers;
  const token = authorization.split(' ')[1] ?? '';
  const leak = [authorization, token, encodeURIComponent(token), other, url, decodeURIComponent(url)].join(' ');
  const sent = { 'Content-Type': 'application/json', 'X-Leak': encodeURIComponent(leak) };
  const send = (message: object) => response.writeHead(200, sent).end(JSON.stringify(message));
  const protectedPath = pathname.replace(METADATA, '');
  if (pathname !== protectedPath) {
    const servers = [issuers[protectedPath]?.origin];
    return send({ resource: `http://${host}${protectedPath}`, authorization_servers: servers });
  }
  if (verb !== 'POST') return response.writeHead(405).end(leak);
  const { id, method, params } = body as Received;
  const challenge = `Bearer error_description="${token}", scope="read ${token}", resource_metadata="http://${host}${METADATA}${pathname}"`;
  const isRefused = pathname in issuers && ['', OWN['access token']].includes(token);
  if (isRefused || pathname === '/unauthorized')
    return response.writeHead(401, { ...sent, 'WWW-Authenticate': challenge }).end(leak);
  if (pathname === '/broken') return response.writeHead(500, leak, sent).end(leak);
  if (id === undefined) return response.writeHead(202).end();
  const answer = (message: object) => send({ jsonrpc: '2.0', id, ...message });
  if (method === 'initialize') {
    const serverInfo = { name: leak, version: leak };
    return answer({ result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') {
    const tools = ['result', 'rpc_error', 'scopes'].map((name) => ({ ...TOOL, name, description: leak }));
    return answer({ result: { tools } });
  }
  if (params?.name === 'result') return answer({ result: { content: [{ type: 'text', text: leak }] } });
  if (params?.name === 'scopes')
    return response.writeHead(403, { 'WWW-Authenticate': `${challenge}, error="insufficient_scope"` }).end(leak);
  return answer({ error: { code: -32602, message: leak, data: { leak } } });
}

const TOOLS = ['result', 'mismatch', 'needs_them', 'is_error', 'rpc_error', 'no_result', 'progress', 'dies'];
/** Those that return what the server sent. */
const WITH_RESULT = ['result', 'mismatch', 'is_error'];

/** The servers of the configuration, with everything that is secret in them. */
function serversOf(remote: string, auth: { readonly notes: object; readonly machine: object }, reloaded: string) {
  const basic = Buffer.from(`joe:${OF_SERVERS['password of Basic']}`).toString('base64');
  const child = {
    command: process.execPath,
    inherit_env: true,
    envs: {
      PLAIN: OF_SERVERS['value of envs'],
      EXPANDED: '\u0024{ENVS}',
      // A user may pass our own key on.
      COPY: '\u0024{OPENAI_API_KEY}',
      RELOADED: reloaded,
    },
  };
  const args = (mode: string) => [STDIO_SERVER, '--tools=indiscreet', mode, `--token=\u0024{ARGS}`, '\u0024{ARGS}'];
  const url = (path: string) => `${remote}${path}?key=\u0024{URL_KEY}&apikey=${OF_SERVERS['parameter of a URL']}`;
  const bearer = {
    Authorization: `Bearer ${OF_SERVERS['header with a scheme']}`,
    'X-Other': OF_SERVERS['other header'],
  };
  return [
    { name: 'child', ...child, args: args('serves') },
    { name: 'exits', ...child, args: args('exits'), restart: 'never' },
    { name: 'refuses', ...child, args: args('refuses'), restart: 'never' },
    { name: 'missing', command: `/nonexistent/\u0024{ARGS}`, restart: 'never' },
    { name: 'remote', url: url('/mcp'), headers: bearer },
    { name: 'unauthorized', url: url('/unauthorized'), headers: { Authorization: `Basic ${basic}` }, restart: 'never' },
    { name: 'broken', url: url('/broken'), headers: bearer, restart: 'never' },
    { name: 'notes', url: `${remote}/notes`, auth: auth.notes },
    { name: 'machine', url: `${remote}/machine`, auth: auth.machine },
  ];
}

/** Everything that is started for a test: the API, the remote servers and their issuers, the configuration. */
async function plant() {
  const api = await conversationApi();
  const repeated = `${OWN['API key']} ${OWN['token of alice']}`;
  api.script([[says('1', `It is ${repeated}.`)]], 'What is it?');
  const called = [...TOOLS.map((name) => `child__${name}`), 'remote__rpc_error', 'machine__result'];
  const answer = says('2', `Done with ${repeated}.`, { phase: 'final_answer' });
  const rounds = [
    [reasons('1'), ...called.map((name, index) => calls(String(index), name))],
    [reasons('2'), answer],
  ];
  api.script(rounds, 'What do they say?');
  // Any other question.
  api.script([]);
  const refusal = fails({
    status: 403,
    error: { message: `No, ${repeated} ${OWN['key that is configured nowhere']}.` },
  });
  api.disturb(0, ...Array<Behaviour>(20).fill(refusal));
  const [issuer, machineIssuer] = await Promise.all([FakeIssuer.start(), FakeIssuer.start()]);
  machineIssuer.tokens = { access_token: OWN['access token of the client'], refresh_token: undefined };
  const issuers = { '/notes': issuer, '/machine': machineIssuer };
  const remote = await serveHttpRequests((request, response, body) =>
    indiscreetReply(request, response, body, issuers),
  );
  const home = await newHome({ notes: `${remote.origin}/notes` });
  const debugFile = path.join(home.home, 'debug.log');
  // Nothing listens at the discard port.
  const redis = `redis://:${encodeURIComponent(OWN['password of redis'])}@127.0.0.1:9`;
  const proxy = `http://joe:${encodeURIComponent(OWN['password of the proxy'])}@127.0.0.1:9`;
  const client = { client_id: 'machine', client_secret: '\u0024{CLIENT_SECRET}' };
  const auth = {
    notes: { callback_port: Number(new URL(home.callback).port) },
    machine: { grant: 'client_credentials', issuer: machineIssuer.origin, ...client },
  };
  const configure = (reloaded: string) => {
    const config = {
      server: { debug: true, debug_file: debugFile },
      servers: serversOf(remote.origin, auth, reloaded),
      gateway: { expose: true },
      grounding: { tools: { child: 'all', remote: 'all', machine: 'all' }, callers: ['alice'] },
      http: {
        token_env: { alice: 'ALICE', bob: 'BOB' },
        quota: { calls_per_day: 1000, store: redis, on_store_failure: 'allow' },
      },
    };
    writeFileSync(home.config, JSON.stringify(config));
  };
  configure('first');
  const env = {
    [HOME_VARIABLE]: home.home,
    OPENAI_API_KEY: OWN['API key'],
    // In the wrong place.
    OPENAI_ORG_ID: OWN['API key'],
    ALICE: OWN['token of alice'],
    BOB: OWN['token of bob'],
    CLIENT_SECRET: OWN['secret of the client'],
    ENVS: OF_SERVERS['variable of envs'],
    ARGS: OF_SERVERS['variable in args'],
    URL_KEY: encodeURIComponent(OF_SERVERS['variable in a URL']),
    OPENAI_BASE_URL: api.url,
    HTTPS_PROXY: proxy,
    NO_PROXY: '127.0.0.1',
  };
  return { api, issuer, home, debugFile, configure, env, reader: new Reader() };
}

type Planted = Awaited<ReturnType<typeof plant>>;

/** Signs in to the server `notes`, which then refuses the token, so that it is renewed. */
async function signIn({ home, issuer, env, reader }: Planted): Promise<void> {
  const registered = { client_id: 'client', client_secret: OWN['secret of the registration'], redirect_uris: [] };
  issuer.answers.set('/registration', { status: 201, body: registered });
  issuer.tokens = { access_token: OWN['access token'], refresh_token: OWN['refresh token'] };
  const login = home.login('notes', { env });
  expect(await open(issuer.callbackFor(await login.url, { code: OWN['code of a login'] }))).toBe(200);
  const { code, stdout, stderr } = await login.ended;
  expect(code, stderr).toBe(0);
  reader.plant('verifier', issuer.tokenRequests[0]?.parameters.code_verifier ?? '');
  reader.read('login', `${stdout}${stderr}`);
  issuer.expects(OWN['refresh token']);
  issuer.tokens = { access_token: OWN['renewed access token'], refresh_token: OWN['renewed refresh token'] };
}

async function overHttp(planted: Planted): Promise<void> {
  const { api, home, debugFile, configure, env, reader } = planted;
  await signIn(planted);
  const process = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', home.config], env });
  const headers = { Authorization: `Bearer ${OWN['token of alice']}` };
  const at = (path: string) => new URL(path, process.url).href;
  const get = async (path: string) => (await send(at(path), { method: 'GET', headers })).text;
  const states = async () => {
    const { servers } = JSON.parse(await get('/mcp/servers')) as { readonly servers: readonly { state: string }[] };
    return servers.map(({ state }) => state);
  };

  const call = async (server: string, toolName: string) => {
    const { text } = await send(at('/mcp/call'), { headers, body: { server, toolName, input: {} } });
    const byPath = await send(at(`/mcp/tools/${server}/${toolName}`), { headers, body: {} });
    const params = { name: `${server}__${toolName}`, arguments: {}, _meta: { progressToken: 'p' } };
    const mcp = await send(process.url, { headers, body: legacy('tools/call', params) });
    const read = WITH_RESULT.includes(toolName) ? 'readResult' : 'read';
    reader[read](`POST /mcp/call ${server} ${toolName}`, text);
    reader[read](`POST /mcp/tools/${server}/${toolName}`, byPath.text);
    reader[read](`MCP tools/call ${server} ${toolName}`, mcp.text);
    return `${text} ${byPath.text} ${mcp.text}`;
  };
  const readAll = async () => {
    await expect.poll(states).not.toContain('starting');
    for (const tool of TOOLS) {
      await call('child', tool);
      await expect.poll(async () => (await states())[0]).toBe('available');
    }
    for (const server of ['exits', 'refuses', 'missing', 'unauthorized', 'broken']) await call(server, 'any');
    for (const server of ['notes', 'machine']) await call(server, 'scopes');
    // What was masked was there: nothing is missing because nothing was sent.
    expect(await call('child', 'result')).toContain(OF_SERVERS['variable in args']);
    expect(await call('child', 'rpc_error')).toMatch(/Failed: .*\[redacted\]/);
    expect(await call('child', 'needs_them')).toMatch(/\[redacted\]\S* is required/);
    for (const server of ['remote', 'notes', 'machine'])
      expect(await call(server, 'rpc_error')).toContain('[redacted]');
    for (const server of ['notes', 'machine']) expect(await call(server, 'result')).toContain('[redacted]');
    const wrong = { server: 'child', toolName: 'result', input: { x: 1 } };
    reader.read('a call with a wrong input', (await send(at('/mcp/call'), { headers, body: wrong })).text);
    for (const path of ['/mcp/servers', '/metrics', '/readyz', '/', '/page.js'])
      reader.read(`GET ${path}`, await get(path));
    for (const path of ['/mcp/tools', '/openapi.json']) reader.readResult(`GET ${path}`, await get(path));
    reader.readResult('MCP tools/list', (await send(process.url, { headers, body: legacy('tools/list') })).text);
    reader.read('GET without a token', (await send(at('/mcp/servers'), { method: 'GET' })).text);
  };
  await readAll();
  expect(await get('/mcp/servers')).toContain('[redacted]');

  const ask = async (query: string) => {
    const question = { name: 'answer', arguments: { query }, _meta: { progressToken: 'p' } };
    const { text } = await send(process.url, { headers, body: legacy('tools/call', question) });
    reader.read(query, text);
    return text;
  };
  expect(await ask('What do they say?')).toContain('Done with [redacted]');
  expect(api.requests.length).toBe(2);
  for (const { rawBody, path } of api.requests) reader.read('a request to the API', `${path} ${rawBody}`);
  expect(api.requests[1]?.rawBody).toContain('[redacted]');
  expect(await ask('What fails?')).toContain('No, [redacted]');

  if (globalThis.process.platform !== 'win32') {
    configure(OF_SERVERS['value of envs after a reload']);
    process.kill('SIGHUP');
    await expect.poll(process.stderr).toContain('the configuration was read again');
    await readAll();
  }
  process.kill();
  await process.exited;
  reader.read('standard error', process.stderr());
  reader.read('the debug file', readFileSync(debugFile, 'utf8'));
  expect(process.stderr()).toMatch(/child: Starting with .*\[redacted\]/);
  expect(process.stderr()).toContain('the login was renewed');
}

async function overStdio({ home, env, reader }: Planted): Promise<void> {
  const server = serve({ args: ['--stdio', '--config', home.config], env });
  await server.initialize();
  const list = async () => JSON.stringify(await server.request('tools/list'));
  await expect.poll(list).toMatch(/child__result.*remote__rpc_error/);
  reader.readResult('tools/list', await list());
  for (const name of TOOLS) {
    const response = JSON.stringify(await server.callTool(`child__${name}`, {}, { progressToken: name }));
    reader[WITH_RESULT.includes(name) ? 'readResult' : 'read'](`tools/call ${name}`, response);
  }
  for (const name of ['exits__any', 'missing__any', 'unauthorized__any', 'remote__rpc_error'])
    reader.read(`tools/call ${name}`, JSON.stringify(await server.callTool(name)));
  for (const query of ['What is it?', 'What fails?'])
    reader.read(query, JSON.stringify(await server.callTool('answer', { query })));
  reader.read('notifications', JSON.stringify(server.notifications));
  server.closeStdin();
  await server.exited;
  reader.read('standard error', server.stderr());
}

async function byCommands(planted: Planted): Promise<void> {
  const { home, issuer, env, reader } = planted;
  await signIn(planted);
  const run = (...args: readonly string[]) => runCli([...args, '--config', home.config], { env });
  const read = async (...args: readonly string[]) => {
    const { stdout, stderr } = await run(...args);
    reader.read(args.join(' '), `${stdout}${stderr}`);
    return stdout;
  };
  const result = async (server: string) => {
    const { stdout, stderr } = await run('call', server, 'result');
    reader.readResult(`call ${server} result`, stdout);
    reader.read(`call ${server} result`, `Standard error: ${stderr}`);
  };
  const failed = async () => {
    const { stderr } = await run('call', 'child', 'is_error');
    reader.readResult('call child is_error', stderr.replace(/^\[openai-responses-mcp\].*\n/gm, ''));
  };
  // Most of a run is the wait for servers that do not start.
  const [, doctor] = await Promise.all([
    read('tools'),
    read('doctor', '--json'),
    read('tools', '--json'),
    read('doctor'),
    read('--show-config'),
    read('logins'),
    read('logins', '--json'),
    read('ask', 'What is it?'),
    read('ask', '--json', 'What is it?'),
    read('ask', 'What fails?'),
    read('ask', '--json', 'What fails?'),
    result('child'),
    result('machine'),
    failed(),
    ...['child rpc_error', 'child dies', 'exits any', 'unauthorized any', 'notes rpc_error', 'machine scopes'].map(
      (call) => read('call', ...call.split(' ')),
    ),
  ]);
  expect(doctor).toContain('(client_credentials): ');
  const refused = { error: 'x', error_description: OWN['renewed refresh token'] };
  issuer.answers.set('/revocation', { status: 400, body: refused });
  await read('logout', 'notes');
}

// S6
test.each([
  ['over HTTP', overHttp],
  ['over stdio', overStdio],
  ['as commands', byCommands],
])('nothing that the program writes %s contains a secret', async (_, door) => {
  const planted = await plant();
  await door(planted);
  expect(planted.reader.leaks).toEqual([]);
});
