import { expect, test } from 'vitest';
import { FakeServerLogin } from '../support/fake-server-login.ts';
import { legacy, type Reply, send } from '../support/http-client.ts';
import { echoes, ScriptedToolServer } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { serveGateway } from './serve-gateway.ts';

const COMMAND = 'openai-responses-mcp login notes';
const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;

/** `notes` requires a login, and `files` needs none. */
async function serveNotes(refusal?: string) {
  const notes = new ScriptedToolServer({ read: echoes });
  const login = new FakeServerLogin('notes');
  login.refusal = refusal;
  notes.login = login;
  const files = new ScriptedToolServer({ read: echoes });
  const served = await serveGateway({ notes, files });
  await until(() => served.gateway.readiness() !== 'starting');
  return { ...served, login };
}

test('the list of servers has the state and the command, until a person has signed in', async () => {
  const { get, login, gateway } = await serveNotes();
  const lastError = `requires a login; sign in with: ${COMMAND}`;
  expect(json(await get('/mcp/servers'))).toMatchObject({
    servers: [
      { name: 'notes', state: 'login_required', tools: 0, restarts: 0, lastError, login: COMMAND },
      { name: 'files', state: 'available' },
    ],
  });
  login.signIn();
  await until(() => gateway.servers[0]?.state === 'available');
  const { servers } = json(await get('/mcp/servers')) as { servers: object[] };
  expect(servers[0]).toMatchObject({ name: 'notes', tools: 1 });
  for (const server of servers) expect(server).not.toHaveProperty('login');
});

// S69
test('a call says why the issuer refused the last login, in one clean line', async () => {
  const { call } = await serveNotes(
    `https://id.example/token answered invalid_grant: Ended\n\u001B[31mby an operator. `,
  );
  expect(json(await call({ server: 'notes', toolName: 'read' }))).toMatchObject({
    error: {
      code: 'LOGIN_REQUIRED',
      message: `The server notes requires a login, because https://id.example/token answered invalid_grant: Ended by an operator. Sign in on the gateway's machine with: ${COMMAND}`,
    },
  });
});

test('a call is 503 with the command, and says no time to try again; metrics and access log have the outcome', async () => {
  const { call, post, at, accessLines, untilLogged } = await serveNotes();
  const reply = await call({ server: 'notes', toolName: 'read' }, { 'X-Request-Id': 'r1' });
  expect(reply.status).toBe(503);
  expect(reply.headers).not.toHaveProperty('retry-after');
  expect(json(reply)).toEqual({
    success: false,
    error: {
      code: 'LOGIN_REQUIRED',
      message: `The server notes requires a login. Sign in on the gateway's machine with: ${COMMAND}`,
      details: { server: 'notes', command: COMMAND, requestId: 'r1' },
    },
  });
  await post(legacy('tools/call', { name: 'notes__read' }));
  await untilLogged(2);
  expect(accessLines).toMatchObject([
    { server: 'notes', status: 503, outcome: 'login_required' },
    { method: 'tools/call', server: 'notes', status: 200, outcome: 'login_required' },
  ]);
  const { text } = await send(at('/metrics'), { method: 'GET' });
  expect(text).toContain('\nopenai_responses_mcp_server_up{server="notes",state="login_required"} 0\n');
  expect(text).toContain('\nopenai_responses_mcp_server_calls_total{server="notes",outcome="login_required"} 2\n');
});
