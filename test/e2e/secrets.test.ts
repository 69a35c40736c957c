import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { calls, reasons, says } from '../support/conversation-items.ts';
import { freePort } from '../support/free-port.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { STDIO_SERVER } from '../support/process-tree.ts';
import { runCli } from '../support/run-cli.ts';
import { serveHttpRequests } from '../support/servers/remote-servers.ts';
import { newFolder } from './files.ts';
import { conversationApi } from './grounding/kit.ts';
import { serve } from './serve.ts';

/** Keys, tokens and passwords of the program, by the place where they are configured. */
const OWN = {
  'API key': 'sk-proj-PlantedApiKey0123456789',
  'token of alice': 'planted-token+alice/0123456789==',
  'token of bob': 'planted-token-bob-0123456789',
  'password of redis': 'planted@redis/passw0rd',
  'password of the proxy': 'planted:proxy/passw0rd',
};

/** Secrets of servers. */
const OF_SERVERS = {
  'value of envs': 'planted value "of" envs\\1',
  'variable of envs': 'planted-variable-of-envs/+=1',
  'header with a scheme': 'planted-bearer-of-header-1',
  'password of Basic': 'planted-basic-passw0rd',
  'other header': 'planted other header 1',
  'variable in args': 'planted-variable-in-args-1',
  'variable in a URL': 'planted/variable+in=url-1',
  'parameter of a URL': 'planted-parameter-of-url-1',
  'value of envs after a reload': 'planted-after-reload-1',
};

const VARIABLES = {
  OPENAI_API_KEY: OWN['API key'],
  ALICE: OWN['token of alice'],
  BOB: OWN['token of bob'],
  ENVS: OF_SERVERS['variable of envs'],
  ARGS: OF_SERVERS['variable in args'],
  URL_KEY: encodeURIComponent(OF_SERVERS['variable in a URL']),
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

  /** A text of the program, or what the model reads. */
  read(where: string, shown: string): void {
    this.#search(where, shown, { ...OWN, ...OF_SERVERS });
  }

  /** A result or a list of tools: it contains what the server sent, except for keys of the program. */
  readResult(where: string, shown: string): void {
    expect(shown, where).toContain(OF_SERVERS['variable in args']);
    this.#search(where, shown, OWN);
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
  readonly params: { readonly protocolVersion?: string };
}

/** What a remote MCP server answers that repeats its headers and its URL. The path says how. */
function indiscreetReply(request: IncomingMessage, response: ServerResponse, body: unknown): void {
  const { pathname } = new URL(request.url ?? '', 'http://localhost');
  const { authorization = '', 'x-other': other = '' } = request.headers;
  const leak = `${authorization} ${authorization.split(' ')[1]} ${String(other)} ${request.url} ${decodeURIComponent(request.url ?? '')}`;
  const headers = { 'Content-Type': 'application/json', 'X-Leak': encodeURIComponent(leak) };
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params } = body as Received;
  const answer = (message: object) =>
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
  if (pathname === '/unauthorized') return void response.writeHead(401, headers).end(leak);
  if (pathname === '/broken') return void response.writeHead(500, leak, headers).end(leak);
  if (id === undefined) return void response.writeHead(202).end();
  const serverInfo = { name: leak, version: leak };
  const tool = {
    name: 'rpc_error',
    description: leak,
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  };
  if (method === 'initialize')
    answer({ result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  else if (method === 'tools/list') answer({ result: { tools: [tool] } });
  else answer({ error: { code: -32602, message: leak, data: { leak } } });
}

/** The configuration, with everything that is secret in it. */
function configOf(remote: string, folder: string, redis: string, reloaded = 'first') {
  const basic = Buffer.from(`joe:${OF_SERVERS['password of Basic']}`).toString('base64');
  const child = {
    command: process.execPath,
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
  return {
    server: { debug: true, debug_file: path.join(folder, 'debug.log') },
    servers: [
      { name: 'child', ...child, args: args('serves') },
      { name: 'exits', ...child, args: args('exits'), restart: 'never' },
      { name: 'refuses', ...child, args: args('refuses'), restart: 'never' },
      { name: 'missing', command: `/nonexistent/\u0024{ARGS}`, restart: 'never' },
      { name: 'remote', url: url('/mcp'), headers: bearer },
      {
        name: 'unauthorized',
        url: url('/unauthorized'),
        headers: { Authorization: `Basic ${basic}` },
        restart: 'never',
      },
      { name: 'broken', url: url('/broken'), headers: bearer, restart: 'never' },
    ],
    gateway: { expose: true },
    grounding: { tools: { child: 'all', remote: 'all' }, callers: ['alice'] },
    http: {
      token_env: { alice: 'ALICE', bob: 'BOB' },
      quota: { calls_per_day: 1000, store: redis, on_store_failure: 'allow' },
    },
  };
}

const TOOLS = ['result', 'mismatch', 'needs_them', 'is_error', 'rpc_error', 'no_result', 'progress', 'dies'];
/** Those that return what the server sent. */
const WITH_RESULT = ['result', 'mismatch', 'is_error'];

/** Everything that is started for a test: the API, the remote servers, the configuration. */
async function plant() {
  const api = await conversationApi();
  const folder = newFolder();
  const port = await freePort();
  const redis = `redis://:${encodeURIComponent(OWN['password of redis'])}@127.0.0.1:${port}`;
  const proxy = `http://joe:${encodeURIComponent(OWN['password of the proxy'])}@127.0.0.1:${port}`;
  const remote = (await serveHttpRequests(indiscreetReply)).origin;
  const file = path.join(folder, 'config.yaml');
  const configure = (reloaded?: string) =>
    writeFileSync(file, JSON.stringify(configOf(remote, folder, redis, reloaded)));
  configure();
  const env = { ...VARIABLES, OPENAI_BASE_URL: api.url, HTTPS_PROXY: proxy, NO_PROXY: '127.0.0.1' };
  return { api, folder, file, configure, env, reader: new Reader() };
}

/** A conversation that calls every tool and ends. */
function conversation() {
  const all = [...TOOLS.map((name) => `child__${name}`), 'remote__rpc_error'];
  return [
    [reasons('1'), ...all.map((name, index) => calls(String(index), name))],
    [reasons('2'), says('2', 'Done.', { phase: 'final_answer' as const })],
  ];
}

async function eventually(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await sleep(50);
}

// S6
test('nothing that the program writes over HTTP contains a secret', async () => {
  const { api, folder, file, configure, env, reader } = await plant();
  api.script(conversation());
  const process = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', file], env });
  const headers = { Authorization: `Bearer ${OWN['token of alice']}` };
  const at = (path: string) => new URL(path, process.url).href;
  const get = async (path: string) => (await send(at(path), { method: 'GET', headers })).text;
  const statuses = async () => JSON.parse(await get('/mcp/servers')).servers as readonly { state: string }[];
  await eventually(async () => (await statuses()).every(({ state }) => state !== 'starting'));

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
    for (const tool of TOOLS) {
      await call('child', tool);
      await eventually(async () => (await statuses())[0]?.state === 'available');
    }
    for (const server of ['exits', 'refuses', 'missing', 'unauthorized', 'broken']) await call(server, 'any');
    // What was masked was there: nothing is missing because nothing was sent.
    expect(await call('child', 'rpc_error')).toMatch(/Failed: .*\[redacted\]/);
    expect(await call('remote', 'rpc_error')).toContain('[redacted]');
    expect(await call('child', 'needs_them')).toMatch(/\[redacted\]\S* is required/);
    reader.read(
      'POST /mcp/call with a wrong input',
      (
        await send(at('/mcp/call'), {
          headers,
          body: { server: 'child', toolName: 'result', input: { x: 1 } },
        })
      ).text,
    );
    for (const path of ['/mcp/servers', '/metrics', '/', '/page.js']) reader.read(`GET ${path}`, await get(path));
    for (const path of ['/mcp/tools', '/openapi.json']) reader.readResult(`GET ${path}`, await get(path));
    reader.readResult('MCP tools/list', (await send(process.url, { headers, body: legacy('tools/list') })).text);
    reader.read('GET without a token', (await send(at('/mcp/servers'), { method: 'GET' })).text);
  };
  await readAll();
  expect(await get('/mcp/servers')).toContain('[redacted]');

  const question = { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 'p' } };
  const answer = await send(process.url, { headers, body: legacy('tools/call', question) });
  expect(answer.text).toContain('Done.');
  reader.read('a grounded answer', answer.text);
  expect(api.requests.length).toBe(2);
  for (const [index, { rawBody, path }] of api.requests.entries())
    reader.read(`request ${index} to the API`, `${path} ${rawBody}`);
  expect(api.requests[1]?.rawBody).toContain('[redacted]');

  if (globalThis.process.platform !== 'win32') {
    configure(OF_SERVERS['value of envs after a reload']);
    process.kill('SIGHUP');
    await eventually(() => process.stderr().includes('the configuration was read again'));
    await eventually(async () => (await statuses()).every(({ state }) => state !== 'starting'));
    await readAll();
  }
  process.kill();
  await process.exited;
  reader.read('standard error', process.stderr());
  reader.read('the debug file', readFileSync(path.join(folder, 'debug.log'), 'utf8'));
  expect(process.stderr()).toMatch(/child: Starting with .*\[redacted\]/);
  expect(reader.leaks).toEqual([]);
});

test('nothing that the program writes over stdio contains a secret', async () => {
  const { file, env, reader } = await plant();
  const server = serve({ args: ['--stdio', '--config', file], env });
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
  reader.read('notifications', JSON.stringify(server.notifications));
  server.closeStdin();
  await server.exited;
  reader.read('standard error', server.stderr());
  expect(reader.leaks).toEqual([]);
});

test('nothing that the commands write contains a secret', async () => {
  const { file, env, reader } = await plant();
  const run = async (...args: readonly string[]) => {
    const { stdout, stderr } = await runCli([...args, '--config', file], { env });
    return { stdout, stderr };
  };
  // Most of a run is the wait for servers that do not start.
  await Promise.all([
    ...[['tools'], ['tools', '--json'], ['doctor'], ['--show-config'], ['ask', 'q']].map(async (args) => {
      const { stdout, stderr } = await run(...args);
      reader.read(args.join(' '), `${stdout}\n${stderr}`);
    }),
    run('call', 'child', 'result').then(({ stdout, stderr }) => {
      reader.readResult('call result', stdout);
      reader.read('standard error of call result', stderr);
    }),
    run('call', 'child', 'is_error').then(({ stderr }) =>
      reader.readResult('call is_error', stderr.replace(/^\[openai-responses-mcp\].*\n/gm, '')),
    ),
    ...['child rpc_error', 'child dies', 'exits any', 'unauthorized any'].map(async (call) => {
      const { stdout, stderr } = await run('call', ...call.split(' '));
      reader.read(`call ${call}`, `${stdout} ${stderr}`);
    }),
  ]);
  expect(reader.leaks).toEqual([]);
});
