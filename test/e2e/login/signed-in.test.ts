import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { startGatewayProcess } from '../gateway/serve-gateway.ts';
import { BUILT_PROGRAM } from '../serve.ts';
import { newHome } from './kit.ts';
import { SCOPE, signIn, startOfficialServer } from './official-server.ts';

const messageWith = (command: string) =>
  `The server notes requires a login. Sign in on the gateway's machine with: ${command}`;

test('a person signs in to a protected server, and every way to its tools works, until the person signs out', async () => {
  const { issuer, url, seen } = await startOfficialServer();
  const home = await newHome({ notes: url });
  const gateway = await startGatewayProcess(home.servers, { env: { [HOME_VARIABLE]: home.home } });
  expect(await gateway.untilState('notes', 'login_required')).toMatchObject({
    login: 'openai-responses-mcp login notes',
  });
  expect(await gateway.call('notes', 'echo', { text: 'hi' })).toMatchObject({
    status: 503,
    body: { error: { code: 'LOGIN_REQUIRED', message: messageWith('openai-responses-mcp login notes') } },
  });
  const call = () => home.run('call', 'notes', 'echo', '{"text":"hi"}');
  expect(await call()).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${messageWith(`node ${BUILT_PROGRAM} login notes --config ${home.config}`)}\n`,
  });

  expect(await signIn(home, false)).toMatch(
    new RegExp(`^Signed in to notes: ${issuer}, scopes ${SCOPE}.*, until .*, then renewed\\n$`),
  );
  await gateway.untilState('notes', 'available');
  expect(await gateway.call('notes', 'echo', { text: 'hi' })).toMatchObject({ status: 200, body: { result: 'hi' } });
  expect(await call()).toMatchObject({ code: 0, stdout: 'hi\n', stderr: '' });
  const tokens = new Set(seen.map(({ headers }) => headers.authorization?.replace('Bearer ', '')));
  for (const token of tokens) if (token !== undefined) expect(gateway.stderr()).not.toContain(token);

  expect((await home.run('logout', 'notes')).code).toBe(0);
  await gateway.untilState('notes', 'login_required');
  expect((await gateway.call('notes', 'echo', { text: 'hi' })).status).toBe(503);

  await signIn(home, true);
  await gateway.untilState('notes', 'available');

  // The issuer no longer knows the login.
  const [name = ''] = readdirSync(home.folder).filter((file) => file.endsWith('.json'));
  const file = path.join(home.folder, name);
  const login = JSON.parse(readFileSync(file, 'utf8'));
  const secret = 'refresh-that-nobody-issued';
  login.tokens = { ...login.tokens, access_token: 'ended', refresh_token: secret };
  writeFileSync(file, JSON.stringify(login));
  let refused = await gateway.call('notes', 'echo', { text: 'hi' });
  while (refused.status === 200) refused = await gateway.call('notes', 'echo', { text: 'hi' });
  const reason = `because ${issuer}/token answered invalid_grant: [^."]+\\. Sign in on`;
  expect(JSON.stringify(refused.body)).toMatch(new RegExp(`The server notes requires a login, ${reason}`));
  expect(JSON.stringify(refused.body) + gateway.stderr()).not.toContain(secret);
});
