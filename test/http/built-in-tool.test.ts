import { expect, test } from 'vitest';
import { rightsBy } from '../../src/domain/gateway/access.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { legacy, modern, send } from '../support/http-client.ts';
import { TODAY, todayProvider } from '../support/today-provider.ts';
import { serveGateway } from './serve-gateway.ts';

const DAY = '2026-01-05';
const PATH = '/mcp/tools/openai-responses-mcp/today';

test('MCP and REST have the tool of a provider, for those who may use it, and report its calls', async () => {
  const clock = new FakeClock();
  const rightsOf = rightsBy({ alice: { answers: true }, bob: { answers: ['answer'] } });
  const tokens = ['alice', 'bob'].map((caller) => ({ caller, token: `token-of-${caller}` }));
  const otherTools = [todayProvider({ tool: TODAY, clock })];
  const served = await serveGateway({}, { clock, otherTools, http: { tokens, rightsOf } });
  const { at, get, post, metrics, accessLines, untilLogged } = served;
  const as = (caller: string) => ({ Authorization: `Bearer token-of-${caller}` });

  for (const message of [legacy, modern]) {
    const toolsFor = async (caller: string) => (await post(message('tools/list'), as(caller))).message.result?.tools;
    expect(await toolsFor('alice')).toMatchObject([{}, {}, {}, { name: 'today' }]);
    expect(await toolsFor('bob')).toMatchObject([{ name: 'answer' }]);
    const call = message('tools/call', { name: 'today', arguments: {} });
    expect((await post(call, as('alice'))).message).toMatchObject({ result: { content: [{ text: DAY }] } });
    expect((await post(call, as('bob'))).message).toMatchObject({ error: {} });
  }
  await untilLogged(8);

  expect(JSON.parse((await get('/mcp/tools', as('alice'))).text)).toMatchObject({ tools: [{}, {}, {}, TODAY] });
  expect(JSON.parse((await get('/openapi.json', as('alice'))).text)).toHaveProperty(['paths', PATH]);
  expect((await send(at(PATH), { body: {}, headers: as('bob') })).status).toBe(404);
  expect((await send(at(PATH), { body: {}, headers: as('alice') })).text).toBe(JSON.stringify(DAY));
  await untilLogged(12);
  expect(accessLines.at(-1)).toMatchObject({ caller: 'alice', tool: 'today', outcome: 'answered' });
  expect(await metrics.registry.metrics()).toContain('calls_total{tool="today",outcome="answered"} 3');
});
