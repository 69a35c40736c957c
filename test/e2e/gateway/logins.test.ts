import { expect, test } from 'vitest';
import { SystemClock } from '../../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import { FakeIssuer, loginAt } from '../../support/fake-issuer.ts';
import { send } from '../../support/http-client.ts';
import { protect } from '../../support/protected-server.ts';
import { startModernServer } from '../../support/servers/remote-servers.ts';
import { newFolder } from '../files.ts';
import { startGatewayProcess } from './serve-gateway.ts';

test('a running gateway renews the login when its token is refused, and counts it', async () => {
  const [issuer, remote, logins] = [await FakeIssuer.start(), await startModernServer(), newFolder()];
  protect(remote, issuer, (token) => token === issuer.accessToken);
  issuer.expects('refresh-0');
  const files = new LoginFiles(logins, new SystemClock());
  const login = loginAt(issuer.origin, { access_token: 'refused', expires_in: 3600 });
  const place = { url: remote.url, use: 'shared' } as const;
  await files.locked(place, () => files.write(place, login));
  const gateway = await startGatewayProcess([{ name: 'notes', url: remote.url }], { logins });
  await gateway.untilState('notes', 'available');
  expect((await gateway.call('notes', 'echo', { text: 'a' })).status).toBe(200);
  expect(issuer.tokenRequests).toHaveLength(1);
  const tokens = new Set(remote.seen.map(({ headers }) => headers.authorization));
  expect([...tokens]).toEqual(['Bearer refused', 'Bearer access-1']);
  const { text } = await send(new URL('/metrics', gateway.url).href, { method: 'GET' });
  expect(text).toContain('openai_responses_mcp_login_renewals_total{server="notes",outcome="renewed"} 1\n');
});
