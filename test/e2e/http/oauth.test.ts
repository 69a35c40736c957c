import { createServer } from 'node:net';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { newKey, startAuthorizationServer, visit } from '../../support/authorization-server.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { MemoryOAuth } from '../../support/memory-oauth.ts';
import { newFile } from '../files.ts';

test('an official client finds the authorization server, gets a token and uses the tools', async () => {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('first')], scope: 'mcp:tools' });
  const address = `127.0.0.1:${await freePort()}`;
  const config = newFile(
    'config.yaml',
    `http:\n  listen: ${address}\n  oauth:\n    issuer: ${issuer}\n    audience: http://${address}/mcp\n    scopes: [mcp:tools]\n`,
  );
  const { url, stderr } = await startHttpProcess({ args: ['--http', '--offline', '--config', config] });
  const oauth = new MemoryOAuth();
  const connect = async () => {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: oauth });
    const client = new Client({ name: 'test', version: '1.0.0' });
    onTestFinished(() => client.close());
    await client.connect(transport).catch((error: unknown) => {
      if (!(error instanceof UnauthorizedError)) throw error;
    });
    return { client, transport };
  };

  const { transport } = await connect();
  expect(oauth.authorizationUrl?.origin).toBe(issuer);
  expect(Object.fromEntries(oauth.authorizationUrl?.searchParams ?? [])).toMatchObject({
    resource: url,
    scope: 'mcp:tools',
    code_challenge_method: 'S256',
  });
  await transport.finishAuth(await visit(oauth.authorizationUrl ?? new URL(url), oauth.redirectUrl));
  const { client } = await connect();
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('answer');
  const answer = await client.callTool({ name: 'answer', arguments: { query: 'What does HTTP 404 mean?' } });
  expect(answer.isError).not.toBe(true);

  const token = oauth.tokens()?.access_token ?? '';
  const [, payload = ''] = token.split('.');
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
    iss: issuer,
    aud: url,
    sub: 'alice',
  });
  const forged = `${token.slice(0, -4)}AAAA`;
  expect((await send(url, { body: legacy('ping'), headers: { Authorization: `Bearer ${forged}` } })).status).toBe(401);
  expect(stderr()).toContain('"caller":"oauth:alice"');
  expect(stderr()).not.toContain(payload);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
