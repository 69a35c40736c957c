import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { connectClient } from '../../../../../src/adapters/outbound/mcp-client/client.ts';
import { McpConnection } from '../../../../../src/adapters/outbound/mcp-client/mcp-connection.ts';

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'fake', version: '1.0.0' },
  },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
};

/** A server in the same process, which answers at once. Records the messages. */
class FakeTransport implements Transport {
  readonly sent: JSONRPCMessage[] = [];
  onmessage?: (message: JSONRPCMessage) => void;

  async start(): Promise<void> {}
  async close(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.sent.push(message);
    if (!('method' in message) || !('id' in message)) return;
    this.onmessage?.({ jsonrpc: '2.0', id: message.id, result: { ...RESULTS[message.method] } });
  }
}

async function connect() {
  const transport = new FakeTransport();
  const { signal } = new AbortController();
  const client = await connectClient(
    transport,
    { name: 'test', version: '1.0.0' },
    'legacy',
    { onToolsChanged: () => {} },
    signal,
  );
  const connection = new McpConnection(client, {
    name: 'fake',
    transport: 'stdio',
    pid: undefined,
    maxBytes: 1000,
    lostReason: () => 'lost',
    close: async () => {},
    onBroken: () => {},
  });
  return { connection, signal, latest: () => transport.sent.at(-1) };
}

test('asks for progress if the caller wants it', async () => {
  const { connection, signal, latest } = await connect();
  await connection.callTool('work', { size: 1 }, { onProgress: () => {} }, signal);
  expect(latest()).toMatchObject({ params: { _meta: { progressToken: expect.anything() } } });
});

test('does not ask for progress that nobody receives', async () => {
  const { connection, signal, latest } = await connect();
  const result = await connection.callTool('work', { size: 1 }, {}, signal);
  expect(result.isOk()).toBe(true);
  expect(latest()).toMatchObject({ method: 'tools/call', params: { name: 'work', arguments: { size: 1 } } });
  expect(latest()).not.toHaveProperty('params._meta');
});

test('passes a trace on in `_meta`, without its baggage', async () => {
  const { connection, signal, latest } = await connect();
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', baggage: 'user=alice' };
  await connection.callTool('work', { size: 1 }, { trace }, signal);
  expect(latest()).toMatchObject({
    params: { name: 'work', arguments: { size: 1 }, _meta: { traceparent: trace.traceparent } },
  });
  expect(latest()).not.toHaveProperty('params._meta.baggage');
});
