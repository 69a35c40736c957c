import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FakeIssuer } from '../../support/fake-issuer.ts';
import { send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { runCli } from '../../support/run-cli.ts';
import { serveHttpRequests } from '../../support/servers/remote-servers.ts';
import { newHome, open } from './kit.ts';

const SECRETS = {
  'access token': 'planted-access-token/1+=',
  'refresh token': 'planted-refresh-token/1+=',
  'renewed access token': 'planted-renewed-access/2+=',
  'renewed refresh token': 'planted-renewed-refresh/2+=',
  code: 'planted-code/1+=',
  'secret of the registration': 'planted-registered-secret/1+=',
  'configured secret': 'planted-configured-secret/1+=',
  'token of the machine': 'planted-machine-token/1+=',
};

const METADATA = '/.well-known/oauth-protected-resource';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** A server that repeats its token wherever it can. */
function indiscreet(
  { url, headers, method: verb }: IncomingMessage,
  response: ServerResponse,
  body: unknown,
  issuer: string,
) {
  const { authorization = '' } = headers;
  const token = authorization.replace('Bearer ', '');
  const leak = `${authorization} ${token} ${encodeURIComponent(token)}`;
  if (url === METADATA) {
    const document = {
      resource: `http://${headers.host}/mcp`,
      authorization_servers: [issuer],
      scopes_supported: ['read'],
    };
    return response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
  }
  if (verb !== 'POST') return response.writeHead(405).end(leak);
  const { id, method, params } = body as Message;
  const challenge = `Bearer error_description="${token}", scope="read ${token}", resource_metadata="http://${headers.host}${METADATA}"`;
  const isScope = method === 'tools/call' && JSON.stringify(params).includes('"scopes"');
  if (isScope)
    return response.writeHead(403, { 'WWW-Authenticate': `${challenge}, error="insufficient_scope"` }).end(leak);
  if (token === '' || token === SECRETS['access token'])
    return response.writeHead(401, { 'WWW-Authenticate': challenge }).end(leak);
  if (id === undefined) return response.writeHead(202).end();
  const answer = (message: object) =>
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
  const tool = { name: 'leak', description: leak, inputSchema: { type: 'object' } };
  if (method === 'initialize') {
    const serverInfo = { name: leak, version: leak };
    return answer({ result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list')
    return answer({ result: { tools: [tool, { ...tool, name: 'fail' }, { ...tool, name: 'scopes' }] } });
  if (JSON.stringify(params).includes('"fail"'))
    return answer({ error: { code: -32602, message: leak, data: { leak } } });
  if (method === 'tools/call') return answer({ result: { content: [{ type: 'text', text: leak }] } });
  return answer({ error: { code: -32601, message: leak } });
}

test('tokens, codes, verifiers and client secrets are shown nowhere', async () => {
  const [issuer, machineIssuer] = await Promise.all([FakeIssuer.start(), FakeIssuer.start()]);
  const remote = await serveHttpRequests((request, response, body) =>
    indiscreet(request, response, body, issuer.origin),
  );
  const machine = await serveHttpRequests((request, response, body) =>
    indiscreet(request, response, body, machineIssuer.origin),
  );
  const notes = `${remote.origin}/mcp`;
  const secret = SECRETS['secret of the registration'];
  issuer.answers.set('/registration', {
    status: 201,
    body: { client_id: 'client', client_secret: secret, redirect_uris: [] },
  });
  issuer.tokens = { access_token: SECRETS['access token'], refresh_token: SECRETS['refresh token'] };
  machineIssuer.tokens = { access_token: SECRETS['token of the machine'], refresh_token: undefined };
  const home = await newHome({ notes });
  const env = {
    [HOME_VARIABLE]: home.home,
    CLIENT_SECRET: SECRETS['configured secret'],
    OPENAI_API_KEY: 'sk-test-0123456789',
  };
  const debugFile = path.join(home.home, 'debug.log');
  const client = { client_id: 'machine', client_secret: '\u0024{CLIENT_SECRET}' };
  const auth = { grant: 'client_credentials', issuer: machineIssuer.origin, ...client };
  const config = {
    server: { debug: true, debug_file: debugFile },
    servers: [
      ...home.servers,
      { name: 'machine', url: `${machine.origin}/mcp`, auth },
      {
        name: 'child',
        command: process.execPath,
        args: [STDIO_SERVER, '--tools=indiscreet', 'serves'],
        inherit_env: true,
      },
    ],
  };
  writeFileSync(home.config, JSON.stringify(config));
  const shown: Record<string, string> = {};
  const run = async (...args: readonly string[]) => {
    const { stdout, stderr } = await runCli([...args, '--config', home.config], { env });
    shown[args.join(' ')] = `${stdout}${stderr}`;
  };

  const login = home.login('notes', { env });
  const callback = issuer.callbackFor(await login.url, { code: SECRETS.code });
  expect(await open(callback)).toBe(200);
  const { code, stdout, stderr } = await login.ended;
  expect(code, stderr).toBe(0);
  shown.login = `${stdout}${stderr}`;
  const verifier = issuer.tokenRequests[0]?.parameters.code_verifier ?? '';
  expect(verifier.length).toBeGreaterThan(40);

  // The first token is refused, and renewed.
  issuer.expects(SECRETS['refresh token']);
  issuer.tokens = { access_token: SECRETS['renewed access token'], refresh_token: SECRETS['renewed refresh token'] };
  const { url, stderr: log } = await startHttpProcess({
    args: ['--http=127.0.0.1:0', '--offline', '--debug', '--config', home.config],
    env,
  });
  const get = async (target: string) => {
    shown[target] = (await send(new URL(target, url).href, { method: 'GET' })).text;
  };
  const call = async (server: string, toolName: string) => {
    const { text } = await send(new URL('/mcp/call', url).href, { body: { server, toolName, input: {} } });
    shown[`call of ${server} ${toolName}`] = text;
  };
  for (const server of ['notes', 'machine']) for (const tool of ['leak', 'fail', 'scopes']) await call(server, tool);
  for (const tool of ['environment', 'rpc_error']) await call('child', tool);
  for (const target of ['/mcp/servers', '/mcp/tools', '/metrics', '/openapi.json', '/', '/readyz']) await get(target);
  for (const args of [
    ['tools'],
    ['tools', '--json'],
    ['call', 'notes', 'fail', '{}'],
    ['call', 'machine', 'leak', '{}'],
  ])
    await run(...args);
  for (const args of [['--show-config'], ['logins'], ['logins', '--json'], ['doctor', '--json', '--offline']])
    await run(...args);
  expect(shown['doctor --json --offline']).toContain(`(client_credentials): ${machineIssuer.origin}, `);
  issuer.answers.set('/revocation', {
    status: 400,
    body: { error: 'x', error_description: SECRETS['renewed refresh token'] },
  });
  await run('logout', 'notes');
  shown['standard error of the server'] = log();
  shown['debug log'] = readFileSync(debugFile, 'utf8');

  expect(issuer.tokenRequests).toHaveLength(2);
  expect(shown['call of notes leak']).toContain('[redacted]');
  expect(shown['debug log']).toContain('the login was renewed');
  const secrets = { ...SECRETS, verifier };
  const leaks = Object.entries(shown).flatMap(([where, text]) =>
    Object.entries(secrets)
      .filter(([, secret]) => [secret, encodeURIComponent(secret)].some((spelling) => text.includes(spelling)))
      .map(([name]) => `${name} in ${where}`),
  );
  expect(leaks).toEqual([]);
  for (const [where, text] of Object.entries(shown)) expect(text, where).not.toBe('');
});
