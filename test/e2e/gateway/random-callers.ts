import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { SystemClock } from '../../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import { isObject } from '../../../src/domain/values/json.ts';
import { loginAt } from '../../support/fake-issuer.ts';
import { begin, send } from '../../support/http-client.ts';
import { type RemoteServer, startModernServer, startSessionServer } from '../../support/servers/remote-servers.ts';
import { newFolder } from '../files.ts';
import { startGatewayProcess } from './serve-gateway.ts';

const CALLERS = ['alice', 'bob', 'carol', 'dan', 'erin', 'frank'] as const;
type Caller = (typeof CALLERS)[number];
const SERVERS = ['notes', 'issues', 'files'] as const;
type ServerName = (typeof SERVERS)[number];

const tokenOf = (caller: string) => `token-of-${caller}-0123456789`;

/** A pseudorandom integer below a limit. The same seed gives the same ones. */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

/** Tokens that name their caller and server, expire after seconds, and are renewed once each. Some renewals fail, and some tokens end early. */
async function startIssuer(random: (limit: number) => number, violations: string[]) {
  const ends = new Map<string, number>();
  const used = new Set<string>();
  let count = 0;
  const newTokens = (caller: string, server: string) => {
    count += 1;
    const seconds = 1 + random(3);
    const access = `a.${caller}.${server}.${count}`;
    ends.set(access, random(20) === 0 ? 0 : Date.now() + seconds * 1000);
    return { access_token: access, refresh_token: `r.${caller}.${server}.${count}`, expires_in: seconds };
  };
  const server = createServer(async (request, response) => {
    const refresh = new URLSearchParams(await readText(request)).get('refresh_token');
    const [, caller = '', name = ''] = refresh?.split('.') ?? [];
    const isDown = random(25) === 0;
    const isUsed = refresh !== null && !isDown;
    if (isUsed && used.has(refresh)) violations.push(`${refresh} was presented twice`);
    if (isUsed) used.add(refresh);
    const body = isUsed ? { token_type: 'Bearer', ...newTokens(caller, name) } : {};
    response.writeHead(isDown ? 503 : 200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, newTokens, isValid: (token: string) => (ends.get(token) ?? 0) > Date.now() };
}

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

/** Lets a server compare the caller in each token with the caller in each call, and with the caller who began the session. */
function watch(name: ServerName, server: RemoteServer, issuer: Issuer, violations: string[]): void {
  const sessions = new Map<string, string>();
  server.protect(({ headers }, response, body) => {
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    const [, caller = '', of] = token.split('.');
    const { method, params } = isObject(body) ? body : {};
    const session = headers['mcp-session-id'];
    if (of !== name) violations.push(`${name} got ${token === '' ? 'no token' : token} with ${String(method)}`);
    const args = isObject(params) && isObject(params.arguments) ? params.arguments : {};
    if (method === 'tools/call' && String(args.text).split(' ')[0] !== caller)
      violations.push(`${name} got ${token} with the call of ${String(args.text)}`);
    if (typeof session === 'string') {
      if ((sessions.get(session) ?? caller) !== caller) violations.push(`${name} got ${token} in another session`);
      sessions.set(session, caller);
    }
    if (issuer.isValid(token)) return true;
    response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
    return false;
  });
}

interface Run {
  readonly calls: number;
  readonly processes: number;
  readonly seed?: number;
}

/**
 * Callers call servers at random over the built program, while they sign in and out, tokens expire, calls are cancelled and the configuration is read
 * again. Returns what a caller got or sent with another one's login, and the number of calls by outcome.
 */
export async function callAtRandom({ calls, processes, seed = 7 }: Run) {
  const violations: string[] = [];
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const issuer = await startIssuer(random, violations);
  const remotes: Record<ServerName, RemoteServer> = {
    notes: await startModernServer(),
    issues: await startSessionServer(),
    files: await startModernServer(),
  };
  for (const name of SERVERS) watch(name, remotes[name], issuer, violations);
  const logins = newFolder();
  const key = Buffer.alloc(32, 9);
  const files = new LoginFiles(logins, new SystemClock(), { key });
  const signIn = (caller: Caller, name: ServerName) => {
    const place = { url: remotes[name].url, use: { kind: 'token', name: caller } } as const;
    const login = { ...loginAt(issuer.origin, issuer.newTokens(caller, name)), id: `${random(1e9)}` };
    return files.locked(place, () => files.write(place, login));
  };
  const servers = (idle: number) =>
    SERVERS.map((name) => ({
      name,
      url: remotes[name].url,
      login: 'per_caller',
      auth: { client_id: 'client-1' },
      ...(name === 'files' && { max_connections: 3, idle_ms: 50 + idle }),
    }));
  const variables = Object.fromEntries(CALLERS.map((name) => [name, `TOKEN_${name}`]));
  const options = {
    env: {
      KEY: key.toString('base64'),
      ...Object.fromEntries(CALLERS.map((name) => [`TOKEN_${name}`, tokenOf(name)])),
    },
    yaml: { gateway: { logins, logins_key: '\u0024{KEY}', watch: true }, http: { token_env: variables } },
  };
  const gateways = await Promise.all(Array.from({ length: processes }, () => startGatewayProcess(servers(0), options)));
  const outcomes: Record<string, number> = {};
  const note = (outcome: string) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  for (const name of SERVERS) for (const caller of CALLERS) await signIn(caller, name);
  const one = async (turn: number) => {
    const [caller, name, gateway] = [pick(CALLERS), pick(SERVERS), pick(gateways)];
    const headers = { Authorization: `Bearer ${tokenOf(caller)}` };
    const step = random(100);
    if (step < 4) await signIn(caller, name);
    if (step === 4) await send(new URL(`/login/${name}`, gateway.url).href, { method: 'DELETE', headers });
    if (step === 5 && turn % 7 === 0) gateway.configure(servers(turn % 50));
    const sent = `${caller} ${turn}`;
    const body = { server: name, toolName: 'echo', input: { text: sent } };
    const exchange = begin(new URL('/mcp/call', gateway.url).href, { body, headers });
    if (step > 90) {
      await new Promise((resolve) => setTimeout(resolve, random(5)));
      exchange.leave();
      await exchange.reply.catch(() => {});
      return note('cancelled');
    }
    const { status, text } = await exchange.reply;
    const parsed = JSON.parse(text);
    if (status === 200 && parsed.result !== sent) violations.push(`${sent} got ${text}`);
    note(status === 200 ? 'answered' : parsed.error.code);
  };
  let turn = 0;
  const worker = async () => {
    while (turn < calls) {
      turn += 1;
      await one(turn);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  return { violations, outcomes };
}
