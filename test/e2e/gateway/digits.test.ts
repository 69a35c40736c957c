import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { WRITES_DIGITS } from '../../../src/domain/values/exact-number.ts';
import { startCleanProcess } from '../../support/clean-process.ts';
import { calls, says } from '../../support/conversation-items.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/run-cli.ts';
import { answerTo, OUTPUT } from '../../support/servers/digits-server.js';
import { newFile } from '../files.ts';
import { conversationApi } from '../grounding/kit.ts';
import { answerOf, apiEnv, serve } from '../serve.ts';

const INPUT = '{"id":1234567890123456789,"limit":1e400}';
const GOT = JSON.stringify(`got ${INPUT}`);

const SERVER = fileURLToPath(new URL('../../support/servers/digits-server.js', import.meta.url));
const CHILD = { name: 's', command: process.execPath, args: [SERVER, 'stdio'] };
const configFor = (server: object) => newFile('config.yaml', JSON.stringify({ servers: [server] }));

/** Posts a text to the program, and resolves with the text of its response. */
async function gateway(server: object) {
  const args = ['--http=127.0.0.1:0', '--offline', '--expose', '--config', configFor(server)];
  const { url } = await startHttpProcess({ args });
  return async (path: string, body: string) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    return (await fetch(new URL(path, url), { method: 'POST', headers, body })).text();
  };
}

/** Answers each request with JSON, or with an event of a stream. */
async function remoteServer(form: 'json' | 'events') {
  const server = createServer(async (request, response) => {
    const answer = request.method === 'POST' ? answerTo(await text(request)) : undefined;
    if (answer === undefined) response.writeHead(request.method === 'POST' ? 202 : 405).end();
    else if (form === 'json') response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
    else response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${answer}\n\n`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { name: 's', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

// S78
test('every digit passes over REST, MCP and in the terminal, in both directions, with each version of Node.js', async () => {
  const post = await gateway(CHILD);
  const called = await post('/mcp/call', `{"server":"s","toolName":"echo","input":${INPUT}}`);
  expect(called).toBe(`{"success":true,"result":${OUTPUT},"content":[{"type":"text","text":${GOT}}]}`);
  expect(await post('/mcp/tools/s/echo', INPUT)).toBe(OUTPUT);
  const params = `{"name":"s__echo","arguments":${INPUT}}`;
  const overMcp = await post('/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
  expect(overMcp).toContain(`"text":${GOT}`);
  expect(overMcp).toContain(`"structuredContent":${OUTPUT}`);
  const { stdout } = await runCli(['call', 's', 'echo', INPUT, '--json', '--config', configFor(CHILD)]);
  expect(stdout.replace(/\s+/g, '')).toContain(OUTPUT);
});

// S78
test('every digit passes over stdio, in both directions, with each version of Node.js', async () => {
  const { child, removeHome } = startCleanProcess(['--offline', '--expose', '--config', configFor(CHILD)]);
  onTestFinished(() => {
    child.kill();
    removeHome();
  });
  const params = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}';
  child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}\n`);
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const call = `{"name":"s__echo","arguments":${INPUT}}`;
  child.stdin.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${call}}\n`);
  let answer = '';
  for await (answer of createInterface({ input: child.stdout })) if (answer.includes('"content"')) break;
  expect(answer).toContain(`"text":${GOT}`);
  expect(answer).toContain(`"structuredContent":${OUTPUT}`);
});

// S78
test('every digit that a model writes reaches the server, and the model gets those of the result', async () => {
  const api = await conversationApi();
  const config = newFile(
    'config.yaml',
    JSON.stringify({ servers: [CHILD], grounding: { tools: { s: ['echo', 'text'] } } }),
  );
  const server = serve({ args: ['--stdio', '--config', config], env: apiEnv(api) });
  await server.initialize();
  const round = [calls('1', 's__echo', INPUT), calls('2', 's__text', INPUT)];
  api.script([round, [says('3', 'Done.', { phase: 'final_answer' })]]);
  answerOf(await server.callTool('answer', { query: 'What is record 1234567890123456789?' }));
  const { input } = api.requests.at(-1)?.body ?? {};
  const outputs = (input as readonly { output?: unknown }[]).flatMap(({ output }) => (output ? [String(output)] : []));
  expect(outputs).toEqual([expect.stringContaining(OUTPUT), expect.stringContaining(`got ${INPUT}`)]);
});

// S78
test.each(['json', 'events'] as const)(
  `a remote server with %s gets ${WRITES_DIGITS ? 'every digit' : 'no changed number'}, and its results keep theirs (Node.js ${process.version})`,
  async (form) => {
    const post = await gateway(await remoteServer(form));
    expect(await post('/mcp/tools/s/echo', '{"id":1}')).toBe(OUTPUT);
    const called = await post('/mcp/call', `{"server":"s","toolName":"echo","input":${INPUT}}`);
    if (WRITES_DIGITS) expect(called).toContain(GOT);
    else
      expect(JSON.parse(called)).toMatchObject({
        error: { code: 'VALIDATION_ERROR', details: { errors: [{ path: '/id' }] } },
      });
  },
);
