import { describe, expect, onTestFinished, test } from 'vitest';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { LoginTokens } from '../../src/adapters/outbound/login/login-tokens.ts';
import { RemoteLogin } from '../../src/adapters/outbound/mcp-client/remote-login.ts';
import { RemoteToolServer } from '../../src/adapters/outbound/mcp-client/remote-tool-server.ts';
import { textOf } from '../../src/domain/gateway/tool-result.ts';
import { newFolder } from '../e2e/files.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer, loginAt } from '../support/fake-issuer.ts';
import { protect } from '../support/protected-server.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { startModernServer, startSessionServer, startSseServer } from '../support/servers/remote-servers.ts';
import { call, EventLog } from './describe-tool-server.ts';
import { errorOf, never } from './search-kit.ts';

const COMMAND = 'openai-responses-mcp login notes';
const KINDS = [
  ['2026-07-28', startModernServer],
  ['sessions', startSessionServer],
  ['SSE', startSseServer],
] as const;

/** A server that accepts the tokens of its issuer, but those that are in `refused`. */
async function start(startServer: (typeof KINDS)[number][1], hasLogin = true) {
  const [issuer, remote] = await Promise.all([FakeIssuer.start(), startServer()]);
  const refused = new Set<string>(['']);
  protect(remote, issuer, (token) => !refused.has(token));
  const { url } = remote;
  const clock = new FakeClock();
  const files = new LoginFiles(newFolder(), clock);
  const server = { name: 'notes', url, headers: {} };
  if (hasLogin)
    await files.locked({ url, use: 'shared' }, () => files.write({ url, use: 'shared' }, loginAt(issuer.origin)));
  const remoteLogin = new RemoteLogin({
    name: 'notes',
    signIn: `with: ${COMMAND}`,
    url,
    clock,
    fetch,
    tokens: new LoginTokens({
      server,
      use: 'shared',
      files,
      network: { fetch, clock },
      learn: () => {},
      onRenewal: () => {},
    }),
  });
  const toolServer = new RemoteToolServer({
    logger: new RecordingLogger(),
    ...server,
    transport: 'auto',
    maxBytes: 20_000,
    identity: { name: 'contract', version: '1.0.0' },
    fetch,
    clock,
    login: remoteLogin,
  });
  const events = new EventLog();
  const connect = async () => {
    const connected = await toolServer.connect(events, never());
    if (connected.isOk()) onTestFinished(() => connected.value.close());
    return connected;
  };
  return { issuer, remote, refused, files, url, remoteLogin, events, connect };
}

describe.each(KINDS)('a protected server (%s)', (_, startServer) => {
  test('without a login gets no further request, and says what to do', async () => {
    const { remote, remoteLogin, connect } = await start(startServer, false);
    expect((await connect()).isErr()).toBe(true);
    expect(remoteLogin.required).toBe(`requires a login; sign in with: ${COMMAND}`);
    expect(remote.seen.length).toBeLessThanOrEqual(2);
  });

  test('gets the token with every request, and a renewed one with those that it has refused', async () => {
    const { issuer, remote, refused, files, url, connect } = await start(startServer);
    const connection = (await connect())._unsafeUnwrap();
    expect(new Set(remote.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer access-0']));
    issuer.expects('refresh-0');
    refused.add('access-0');
    const calls = await Promise.all([1, 2, 3].map((number) => call(connection, 'echo', { text: `${number}` })));
    expect(calls.map((called) => textOf(called._unsafeUnwrap()))).toEqual(['1', '2', '3']);
    expect(issuer.tokenRequests).toHaveLength(1);
    expect(await files.read({ url, use: 'shared' })).toMatchObject({
      tokens: { access_token: 'access-1', refresh_token: 'refresh-1' },
    });
  });

  test('that refuses the login fails a call, and is lost until somebody signs in', async () => {
    const { refused, remoteLogin, events, connect } = await start(startServer);
    const connection = (await connect())._unsafeUnwrap();
    refused.add('access-0');
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toEqual({ kind: 'login_required' });
    expect(remoteLogin.required).toContain(COMMAND);
    expect(events.lost).toHaveLength(1);
  });
});
