import { expect, test } from 'vitest';
import { listTools } from '../../../../../src/adapters/inbound/cli/list-tools.ts';
import type { GatewayTool } from '../../../../../src/domain/gateway/gateway-tool.ts';
import { never } from '../../../../support/core.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';
import { redactorOf } from '../../../../support/redactor.ts';

const tools: readonly GatewayTool[] = ['search', 'delete'].map((name) => {
  return { server: 'notes', name, description: `To ${name}.\nMore.`, inputSchema: { type: 'object' } };
});
const gateway = {
  servers: [
    {
      name: 'notes',
      transport: 'stdio',
      state: 'available',
      since: new Date('2026-11-22T00:00:00Z'),
      restarts: 0,
      tools: 2,
    } as const,
  ],
  tools,
  whenStarted: async () => {},
};

const quiet = { err: { write: () => {} }, clock: new FakeClock(), logger: new RecordingLogger() };

async function list(offered: readonly string[], json = false) {
  const out: string[] = [];
  const options = { gateway, json, out: (text: string) => out.push(text), redactor: redactorOf(), ...quiet };
  expect(await listTools({ ...options, offered: () => offered }, never())).toBe(0);
  return out.join('');
}

test('marks the tools that answers may use', async () => {
  expect(await list(['notes/search'])).toBe(
    [
      'notes: available (stdio)',
      '  * search: To search.',
      '    delete: To delete.',
      '* offered to the model in answers (grounding.tools)',
      '',
    ].join('\n'),
  );
});

test('without any, the list has no column for marks', async () => {
  expect(await list([])).toBe('notes: available (stdio)\n  search: To search.\n  delete: To delete.\n');
});

test('as JSON, each tool says whether it is offered', async () => {
  expect(JSON.parse(await list(['notes/search'], true))).toMatchObject({
    tools: [
      { name: 'search', offered: true },
      { name: 'delete', offered: false },
    ],
  });
});
