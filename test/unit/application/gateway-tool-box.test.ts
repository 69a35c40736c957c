import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import type { ToolCallInput } from '../../../src/application/call-tool.ts';
import type { Gateway } from '../../../src/application/gateway.ts';
import { GatewayToolBox } from '../../../src/application/gateway-tool-box.ts';
import type { ServerState } from '../../../src/domain/tool-call-error.ts';
import { never } from '../../support/core.ts';
import { text } from '../../support/fake-tool-box.ts';
import { tool } from '../../support/grounding.ts';

/** What the tool box uses of a gateway. */
function fakeGateway(states: Readonly<Record<string, ServerState>>) {
  const waits: unknown[] = [];
  const called: ToolCallInput[] = [];
  let starts = 0;
  const gateway = {
    servers: Object.entries(states).map(([name, state]) => ({ name, state })),
    tools: [tool('jira/get'), tool('other/get')],
    whenStarted: async (...args: readonly unknown[]) => void waits.push(args),
    callTool: async (call: ToolCallInput) => {
      called.push(call);
      return ok(text('x'));
    },
  } as unknown as Gateway;
  const toolBox = new GatewayToolBox(async () => {
    starts += 1;
    return { gateway, publicServers: [] };
  });
  return { toolBox, waits, called, starts: () => starts };
}

describe('the tools of the gateway (ruling L6)', () => {
  test('start with the first list, and not before', async () => {
    const { toolBox, starts } = fakeGateway({ jira: 'available' });
    expect(starts()).toBe(0);
    await toolBox.list(['jira'], 10_000, never());
    expect(starts()).toBe(1);
  });

  test('are those of the servers that are asked for, after the wait for their starts', async () => {
    const { toolBox, waits } = fakeGateway({ jira: 'available', other: 'available' });
    const signal = never();
    expect(await toolBox.list(['jira'], 10_000, signal)).toEqual({ tools: [tool('jira/get')], unavailable: [] });
    expect(waits).toEqual([[10_000, signal, ['jira']]]);
  });

  test.each(['starting', 'unavailable', 'failed', 'stopped'] as const)('are not available: %s', async (state) => {
    const { toolBox } = fakeGateway({ jira: 'available', wiki: state });
    const { unavailable } = await toolBox.list(['jira', 'wiki', 'unknown'], 10_000, never());
    expect(unavailable).toEqual(['wiki', 'unknown']);
  });

  test('are all unavailable without a gateway', async () => {
    const toolBox = new GatewayToolBox(async () => undefined);
    expect(await toolBox.list(['jira'], 10_000, never())).toEqual({ tools: [], unavailable: ['jira'] });
    await expect(toolBox.call(tool('jira/get'), {}, 1, never())).rejects.toThrow('without a gateway');
  });

  test('are called with the limit of the answer, which the gateway limits further (ruling L14)', async () => {
    const { toolBox, called } = fakeGateway({ jira: 'available' });
    expect(await toolBox.call(tool('jira/get'), { id: 1 }, 5000, never())).toEqual(ok(text('x')));
    expect(called).toMatchObject([{ server: 'jira', tool: 'get', args: { id: 1 }, timeoutMs: 5000 }]);
  });
});
