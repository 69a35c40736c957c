import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { McpConnection } from '../../../../../src/adapters/outbound/mcp-client/mcp-connection.ts';
import { countTurns } from '../../../../support/count-turns.ts';

test('handles a list of 1,000 tools at most 50 at a time, and its answer in a turn before', async () => {
  const turns = countTurns();
  const tools = Array.from({ length: 1000 }, (_, index) => ({
    name: `tool${index}`,
    get description() {
      turns.countItem();
      return '';
    },
    inputSchema: { type: 'object' },
  }));
  const request = async () => {
    turns.countItem();
    return { tools };
  };
  const client = { request, getServerCapabilities: () => ({ tools: {} }) } as Partial<Client> as Client;
  const connection = new McpConnection(client, {
    name: 'long',
    transport: 'stdio',
    pid: undefined,
    maxBytes: 1000,
    lostReason: () => 'lost',
    close: async () => {},
    onBroken: () => {},
  });
  const listed = (await connection.listTools(new AbortController().signal))._unsafeUnwrap();
  expect(listed).toHaveLength(1000);
  expect(new Set(listed.map(({ fingerprint }) => fingerprint)).size).toBe(1000);
  const [first, ...others] = turns.stop();
  expect(first).toBe(1);
  // The sizes of all are added up before the first is read; the last of the sizes, and the first tools, may share a turn.
  expect(Math.max(...others)).toBeLessThanOrEqual(51);
});
