import { describe, expect, test } from 'vitest';
import { SystemClock } from '../../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import { FakeIssuer, loginAt } from '../../support/fake-issuer.ts';
import { send } from '../../support/http-client.ts';
import { protect } from '../../support/protected-server.ts';
import { type RemoteServer, startModernServer } from '../../support/servers/remote-servers.ts';
import { newFolder } from '../files.ts';
import { type GatewayProcess, startGatewayProcess } from './serve-gateway.ts';

const COMMAND = 'openai-responses-mcp login notes';

/** A server that accepts the latest token of its issuer only, and a folder for its login. */
async function start() {
  const [issuer, remote] = await Promise.all([FakeIssuer.start(), startModernServer()]);
  protect(remote, issuer, (token) => token === issuer.accessToken);
  const folder = newFolder();
  const files = new LoginFiles(folder, new SystemClock());
  issuer.expects('refresh-0');
  const write = (login?: ReturnType<typeof loginAt>) => files.locked(remote.url, () => files.write(remote.url, login));
  const signIn = (token: string) => write(loginAt(issuer.origin, { access_token: token, expires_in: 3600 }));
  const signOut = () => write();
  const gateway = () => startGatewayProcess([{ name: 'notes', url: remote.url }], { logins: folder });
  return { issuer, remote, files, signIn, signOut, gateway };
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
    await signIn(issuer.accessToken);
    await running.untilState('notes', 'available');
    expect((await echo(running)).status).toBe(200);
    await signOut();
    await running.untilState('notes', 'login_required');
  });

  test('renews the login when its token is refused, and counts it', async () => {
    const { issuer, remote, files, signIn, gateway } = await start();
    await signIn('refused');
    const running = await gateway();
    await running.untilState('notes', 'available');
    expect((await echo(running)).status).toBe(200);
    expect(issuer.tokenRequests).toHaveLength(1);
    expect([...tokensOf(remote)]).toEqual(['Bearer refused', 'Bearer access-1']);
    expect(await files.read(remote.url)).toMatchObject({
      tokens: { access_token: 'access-1', refresh_token: 'refresh-1' },
    });
    const { text } = await send(new URL('/metrics', running.url).href, { method: 'GET' });
    expect(text).toContain('openai_responses_mcp_login_renewals_total{server="notes",outcome="renewed"} 1\n');
  });
});
