import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { BuiltInServer } from '../../../../../../src/adapters/inbound/http/rest/built-in-server.ts';
import { AnswerTools } from '../../../../../../src/adapters/inbound/mcp/answer-tools.ts';
import type { SchemaValidator } from '../../../../../../src/application/ports/schema-validator.ts';
import { EVERYTHING } from '../../../../../../src/domain/gateway/call-origin.ts';
import { createRedactor } from '../../../../../../src/domain/values/redaction.ts';
import { never, startCore } from '../../../../../support/core.ts';
import { LOCAL } from '../../../../../support/origins.ts';

/** A validator that accepts nothing, and remembers the schemas that it would compile: each object once. */
function start(hasEffects: () => boolean = () => false) {
  const { application, clock, logger } = startCore();
  const redactor = createRedactor();
  const options = { application, clock, logger, redactor, toolErrors: 'protocol', maxAnswerChars: 20_000 } as const;
  const schemas = new Set<object>();
  const validator: SchemaValidator = {
    validate: async ({ schema }) => {
      schemas.add(schema);
      return err({ kind: 'mismatch', errors: [{ path: '/query', message: 'is wrong' }] });
    },
  };
  const tools = new AnswerTools({ ...options, hasEffects });
  const server = new BuiltInServer({ tools, clock, validator: async () => validator, timeoutMs: 1000 });
  const observer = { onStarted: () => {}, onWaiting: () => {}, onEnded: () => {} };
  const call = () =>
    server.call({ server: 'openai-responses-mcp', tool: 'answer', args: {}, by: LOCAL }, observer, never());
  return { server, schemas, call };
}

test('the schema of a tool is one object for all calls, because it is compiled once per object', async () => {
  const { call, schemas } = start();
  for (let calls = 0; calls < 5; calls += 1) expect((await call()).isErr()).toBe(true);
  expect(schemas.size).toBe(1);
});

test('the tools are made again only when their effects have changed', () => {
  let hasEffects = false;
  const { server } = start(() => hasEffects);
  const before = server.toolsFor(EVERYTHING);
  expect(server.toolsFor(EVERYTHING)[0]).toBe(before[0]);
  hasEffects = true;
  expect(server.toolsFor(EVERYTHING)[0]).not.toBe(before[0]);
  expect(server.toolsFor(EVERYTHING)[0]?.annotations).toMatchObject({ destructiveHint: true });
});
