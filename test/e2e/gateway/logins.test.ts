import { describe, expect, test } from 'vitest';
import { SystemClock } from '../../../src/adapters/outbound/clock/system-clock.ts';
import { type Login, LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import { FakeIssuer } from '../../support/fake-issuer.ts';
import { send } from '../../support/http-client.ts';
import { protect } from '../../support/protected-server.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { type RemoteServer, startModernServer } from '../../support/servers/remote-servers.ts';
import { newFolder } from '../files.ts';
import { type GatewayProcess, startGatewayProcess } from './serve-gateway.ts';

const COMMAND = 'openai-responses-mcp login notes';

/** A server that accepts the latest token of its issuer only, and a folder for its login. */
async function start() {
  const [issuer, remote] = await Promise.all([FakeIssuer.start(), startModernServer()]);
  protect(remote, issuer, (token) => token === issuer.accessToken);
  const folder = newFolder();
  const files = new LoginFiles(folder, new SystemClock(), new RecordingLogger());
  const login: Login = {
    url: remote.url,
    id: '1',
    metadata: { issuer: issuer.origin, token_endpoint: `${issuer.origin}/token` },
    client: { client_id: 'client-1' },
    scopes: ['read'],
    accessToken: 'access-0',
    refreshToken: 'refresh-0',
    receivedAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
  };
  issuer.expects('refresh-0');
  const signIn = (change: Partial<Login> = {}) => files.locked(remote.url, (save) => save({ ...login, ...change }));
  const signOut = () => files.locked(remote.url, (save) => save(undefined));
  const gateway = () => startGatewayProcess([{ name: 'notes', url: remote.url }], { logins: folder });
  return { issuer, remote, files, login, signIn, signOut, gateway };
}

const echo = (gateway: GatewayProcess) => gateway.call('notes', 'echo', { text: 'a' });
const tokensOf = ({ seen }: RemoteServer) => new Set(seen.map(({ headers }) => headers.authorization));

describe('a running gateway', () => {
  test('notices a new login, another one, and its end', async () => {
    const { issuer, remote, signIn, signOut, gateway } = await start();
    const running = await gateway();
    expect(await running.untilState('notes', 'login_required')).toMatchObject({ tools: 0, login: COMMAND });
    const { length } = remote.seen;
    expect(await echo(running)).toMatchObject({ status: 503, body: { error: { code: 'LOGIN_REQUIRED' } } });
    expect(remote.seen).toHaveLength(length);
    await signIn({ accessToken: issuer.accessToken });
    await running.untilState('notes', 'available');
    expect((await echo(running)).status).toBe(200);
    await signOut();
    await running.untilState('notes', 'login_required');
  });

  test('renews the login when its token is refused, and counts it', async () => {
    const { issuer, remote, files, signIn, gateway } = await start();
    await signIn({ accessToken: 'refused' });
    const running = await gateway();
    await running.untilState('notes', 'available');
    expect((await echo(running)).status).toBe(200);
    expect(issuer.tokenRequests).toHaveLength(1);
    expect([...tokensOf(remote)]).toEqual(['Bearer refused', 'Bearer access-1']);
    expect(await files.read(remote.url)).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-1' });
    const { text } = await send(new URL('/metrics', running.url).href, { method: 'GET' });
    expect(text).toContain('openai_responses_mcp_login_renewals_total{server="notes",outcome="renewed"} 1\n');
  });
});

test('five processes present each refresh token once, and all calls succeed', async () => {
  const { issuer, signIn, gateway } = await start();
  await signIn({ accessToken: issuer.accessToken });
  const running = await Promise.all(Array.from({ length: 5 }, gateway));
  await Promise.all(running.map((process) => process.untilState('notes', 'available')));
  for (let round = 1; round <= 4; round += 1) {
    issuer.revoke();
    const replies = await Promise.all(running.flatMap((process) => [echo(process), echo(process)]));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(issuer.tokenRequests).toHaveLength(round);
  }
  const presented = issuer.tokenRequests.map(({ parameters }) => parameters.refresh_token);
  expect(presented).toEqual(['refresh-0', 'refresh-1', 'refresh-2', 'refresh-3']);
});
