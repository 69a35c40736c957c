import { expect, test } from 'vitest';
import { rightsBy } from '../../src/domain/gateway/access.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Reply, send } from '../support/http-client.ts';
import { MODERN } from '../support/mcp-session.ts';
import { TODAY, todayProvider } from '../support/today-provider.ts';
import { serveGateway } from './serve-gateway.ts';

const DAY = '2026-01-05';
const PATH = '/mcp/tools/openai-responses-mcp/today';

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;

/** The program with the tool of `docs/architecture.md`, and two callers of whom only one may use it. */
async function serveToday() {
  const clock = new FakeClock();
  const rights = rightsBy({ alice: { answers: true }, bob: { answers: ['answer'] } });
  const tokens = ['alice', 'bob'].map((caller) => ({ caller, token: `token-of-${caller}` }));
  const otherTools = [todayProvider({ tool: TODAY, clock })];
  return serveGateway({}, { clock, otherTools, http: { tokens, rightsOf: rights } });
}

const as = (caller: string) => ({ Authorization: `Bearer token-of-${caller}` });

const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });

test.each([
  ['legacy', {}],
  ['modern', { _meta: MODERN }],
])('MCP has the tool of a provider in the %s era, for those who may use it', async (_, era) => {
  const { post } = await serveToday();
  const namesFor = async (caller: string) => {
    const { result } = json(await post(request('tools/list', era), as(caller)));
    return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };
  const call = request('tools/call', { name: 'today', arguments: {}, ...era });
  expect(await namesFor('alice')).toEqual(['answer', 'answer_detailed', 'answer_quick', 'today']);
  expect(await namesFor('bob')).toEqual(['answer']);
  expect(json(await post(call, as('alice')))).toMatchObject({ result: { content: [{ type: 'text', text: DAY }] } });
  expect(json(await post(call, as('bob')))).toMatchObject({ error: {} });
});

test('REST lists, describes and calls it, for those who may use it', async () => {
  const { at, get } = await serveToday();
  const call = (caller: string) => send(at(PATH), { body: {}, headers: as(caller) });
  expect(json(await get('/mcp/tools', as('alice')))).toMatchObject({ tools: [{}, {}, {}, TODAY] });
  expect(json(await get('/openapi.json', as('alice')))).toHaveProperty(['paths', PATH]);
  expect(json(await call('alice'))).toBe(DAY);
  expect(await call('bob')).toMatchObject({ status: 404 });
});

test('metrics and the access log have it as they have an answer tool', async () => {
  const { at, metrics, accessLines, untilLogged } = await serveToday();
  await send(at(PATH), { body: {}, headers: as('alice') });
  await untilLogged(1);
  expect(accessLines).toMatchObject([{ caller: 'alice', tool: 'today', outcome: 'answered' }]);
  expect(await metrics.registry.metrics()).toContain('calls_total{tool="today",outcome="answered"} 1');
});
