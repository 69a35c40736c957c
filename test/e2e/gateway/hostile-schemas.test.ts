import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/values/json.ts';
import { send } from '../../support/http-client.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { startGatewayProcess } from './serve-gateway.ts';

const BACKTRACKS = { properties: { a: { pattern: '^(a+)+$' } } };
const AS = `${'a'.repeat(50)}!`;
/** Each definition refers twice to the next, so that a check takes 2 ** 29 steps. */
const DOUBLES = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [
      `d${at}`,
      at === 29 ? { type: 'object' } : { allOf: Array(2).fill({ $ref: `#/$defs/d${at + 1}` }) },
    ]),
  ),
};
const ASYNC = { $async: true, type: 'object', required: ['a'] };
const THROWS = { $dynamicRef: '#__proto__' };
const UNIQUE = { properties: { a: { uniqueItems: true } } };

/** An input schema, an input, and the status of the response. */
const INPUTS: readonly (readonly [JsonObject, JsonObject, number])[] = [
  [BACKTRACKS, { a: AS }, 400],
  [{ patternProperties: { '^(a+)+$': true } }, { [AS]: 1 }, 400],
  [DOUBLES, {}, 400],
  [UNIQUE, { a: Array.from({ length: 10_000 }, (_, at) => [at]) }, 400],
  [ASYNC, {}, 200],
  [THROWS, {}, 200],
  [{ type: 'object', properties: { a: { type: 'string' } } }, { a: AS }, 200],
];
const OUTPUTS: readonly (readonly [JsonObject, JsonObject])[] = [
  [BACKTRACKS, { a: AS }],
  [ASYNC, { b: 1 }],
];

test('whatever the schemas of a server are, calls are answered, others too, and the process lives', {
  timeout: 60_000,
}, async () => {
  const reactions = (more: object = {}) => [{ result: { content: [{ type: 'text', text: 'ok' }], ...more } }];
  const server = scriptedServer([
    ...INPUTS.map(([inputSchema], at) => ({ name: `input${at}`, inputSchema, reactions: reactions() })),
    ...OUTPUTS.map(([outputSchema, structuredContent], at) => ({
      name: `output${at}`,
      outputSchema,
      reactions: reactions({ structuredContent }),
    })),
  ]);
  const { command, args } = server;
  const gateway = await startGatewayProcess([{ name: 'hostile', command, args }]);
  await gateway.untilState('hostile', 'available');
  let [isOver, slowestMs] = [false, 0];
  const probes = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      expect((await send(new URL('/healthz', gateway.url).href, { method: 'GET' })).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      await sleep(5);
    }
  })();
  const replies = await Promise.all([
    ...INPUTS.map(([, input], at) => gateway.call('hostile', `input${at}`, input)),
    ...OUTPUTS.map((_, at) => gateway.call('hostile', `output${at}`)),
  ]);
  isOver = true;
  await probes;
  expect(replies.map(({ status }) => status)).toEqual([...INPUTS.map(([, , status]) => status), 200, 200]);
  for (const { status, body } of replies.filter(({ status }) => status === 400)) {
    expect(body, String(status)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
  }
  // A check on the event loop would take half a day. The limit is generous, because other processes use the machine too.
  expect(slowestMs).toBeLessThan(5000);
  const unusable = gateway.stderr().match(/a schema of hostile\/\w+ cannot be used/g);
  expect(unusable?.toSorted()).toEqual(
    ['input4', 'input5', 'output1'].map((name) => `a schema of hostile/${name} cannot be used`),
  );
  gateway.kill('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});
