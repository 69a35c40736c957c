import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithBalancers, startBalancer } from '../../support/balancers.ts';
import { answers, holds } from '../../support/behaviours.ts';
import { freePort } from '../../support/free-port.ts';
import { begin, legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { apiEnv, fakeApi } from '../serve.ts';

const TOKEN = 'token-of-clients-0123456789';
const headers = { Authorization: `Bearer ${TOKEN}` };

/** A replica that answers with what it got, or as `calls` says. */
async function startReplica(onCall: (request: IncomingMessage) => number | 'breaks') {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.url === '/readyz') return void response.end();
    calls.push(await text(request));
    const status = onCall(request);
    if (status === 'breaks') return void request.socket.destroy();
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(request.headers));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, calls };
}

describeWithBalancers((balancer) => {
  test('passes calls on with their host and token, and streams as they are sent', async () => {
    const api = await fakeApi();
    const held = holds();
    api.replyAlways(held);
    const env = { ...apiEnv(api), MCP_HTTP_TOKEN: TOKEN, MCP_HTTP_ALLOWED_HOSTS: 'mcp.example.com' };
    const { url: replica } = await startHttpProcess({ env });
    const port = Number(new URL(replica).port);
    const { url } = await startBalancer(balancer, [port, port, port]);
    const Host = 'mcp.example.com';
    const call = legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } });
    const streamed = begin(`${url}/mcp`, { body: call, headers: { ...headers, Host } });
    await streamed.until('progress');
    held.release(answers('Here.'));
    expect((await streamed.reply).events.at(-1)?.result?.structuredContent).toMatchObject({ answer: 'Here.' });
    expect((await send(`${url}/mcp`, { body: legacy('ping'), headers: { Host } })).status).toBe(401);
    const other = await send(`${url}/mcp`, { body: legacy('ping'), headers: { ...headers, Host: 'evil.example' } });
    expect(other.status).toBe(403);
  });

  test.each([
    ['its connection was refused', undefined],
    ['the replica drains', 503],
  ] as const)('sends a call elsewhere, with its body, if %s', async (_, status) => {
    const away = async () => (status === undefined ? freePort() : (await startReplica(() => status)).port);
    const good = await startReplica(() => 200);
    const { url } = await startBalancer(balancer, [await away(), await away(), good.port]);
    const bodies = Array.from({ length: 9 }, (_, number) => ({ number, padding: 'x'.repeat(100_000) }));
    for (const body of bodies) expect((await send(`${url}/mcp/call`, { body, headers })).status).toBe(200);
    expect(good.calls.map((call) => JSON.parse(call) as unknown)).toEqual(bodies);
  });

  test.each([
    ['breaks', 502],
    [502, 502],
    [500, 500],
    [429, 429],
  ] as const)('does not repeat a call that may have been done: %s', async (outcome, status) => {
    const replicas = [
      await startReplica(() => outcome),
      await startReplica(() => outcome),
      await startReplica(() => outcome),
    ];
    const { url } = await startBalancer(
      balancer,
      replicas.map(({ port }) => port),
    );
    expect((await send(`${url}/mcp/call`, { body: {}, headers })).status).toBe(status);
    expect(replicas.flatMap(({ calls }) => calls)).toHaveLength(1);
  });

  test('passes on a 503 that every replica gives', async () => {
    const replicas = [await startReplica(() => 503), await startReplica(() => 503), await startReplica(() => 503)];
    const { url } = await startBalancer(
      balancer,
      replicas.map(({ port }) => port),
    );
    const reply = await send(`${url}/mcp/call`, { body: {}, headers });
    expect(reply.status).toBe(503);
    expect(reply.text).toContain(TOKEN);
    expect((await send(`${url}/mcp/call`, { body: {}, headers })).status).toBe(503);
  });
});
