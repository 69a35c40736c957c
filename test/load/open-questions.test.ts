import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { startGatewayProcess } from '../e2e/gateway/serve-gateway.ts';
import { send } from '../support/http-client.ts';
import { earlierRemote } from '../support/servers/asking-servers.ts';

const CALLERS = Array.from({ length: 50 }, (_, index) => `caller-${index}`);
const EACH = 10;
const tokenOf = (caller: string) => `${caller}-token-${'x'.repeat(32)}`;
const variableOf = (caller: string) => caller.toUpperCase().replace('-', '_');

test('500 open questions of 50 callers end, and leave nothing over', async () => {
  const server = await earlierRemote('files', { max_concurrency: CALLERS.length * EACH });
  const token_env = Object.fromEntries(CALLERS.map((caller) => [caller, variableOf(caller)]));
  const gateway = await startGatewayProcess([server], {
    env: Object.fromEntries(CALLERS.map((caller) => [variableOf(caller), tokenOf(caller)])),
    headers: { Authorization: `Bearer ${tokenOf('caller-0')}` },
    yaml: { gateway: { expose: true }, http: { token_env } },
  });
  await gateway.untilState('files', 'available');
  const ask = async (caller: string, number: number, retry: object = {}) => {
    const params = { name: 'files__delete', arguments: { files: number }, ...retry };
    const reply = await send(gateway.url, {
      headers: {
        Authorization: `Bearer ${tokenOf(caller)}`,
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': params.name,
      },
      body: { jsonrpc: '2.0', id: number, method: 'tools/call', params: { ...params, _meta: META } },
    });
    // A response that takes long is a stream.
    const isStream = reply.headers['content-type']?.startsWith('text/event-stream') === true;
    return (isStream ? reply.events.at(-1) : reply.message)?.result as JsonObject;
  };
  const openQuestions = async () => {
    const headers = { Authorization: `Bearer ${tokenOf('caller-0')}` };
    const { text } = await send(new URL('/metrics', gateway.url).href, { method: 'GET', headers });
    return /^openai_responses_mcp_open_questions\S* (\d+)$/m.exec(text)?.[1];
  };
  /** Each caller makes one request after the other, as a client does. */
  const forEachCaller = async <T>(task: (caller: string, number: number) => Promise<T>) => {
    const ofCaller = async (caller: string) => {
      const results: T[] = [];
      for (let number = 0; number < EACH; number += 1) results.push(await task(caller, number));
      return results;
    };
    return (await Promise.all(CALLERS.map(ofCaller))).flat();
  };
  const states = new Map<string, unknown>();
  await forEachCaller(async (caller, number) => {
    const { requestState } = await ask(caller, number);
    states.set(`${caller} ${number}`, requestState);
  });
  expect(new Set(states.values()).size).toBe(CALLERS.length * EACH);
  expect(await openQuestions()).toBe(String(CALLERS.length * EACH));
  await forEachCaller(async (caller, number) => {
    const reason = `${caller} ${number}`;
    const inputResponses = { question: { action: 'accept', content: { sure: true, reason } } };
    const result = await ask(caller, number, { requestState: states.get(reason), inputResponses });
    expect(JSON.stringify(result)).toContain(reason);
  });
  expect(await openQuestions()).toBeUndefined();
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};
