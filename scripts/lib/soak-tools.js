// The tools of the servers of the gateway's soak, and the requests of MCP that they answer.
import { setTimeout as wait } from 'node:timers/promises';

const tool = (name, properties) => ({
  name,
  description: `Soak: ${name}.`,
  inputSchema: {
    type: 'object',
    properties: { call: { type: 'integer' }, ...properties },
    required: ['call', ...Object.keys(properties)],
  },
});

const TOOLS = [
  tool('echo', {}),
  tool('sleep', { ms: { type: 'integer', minimum: 0 } }),
  tool('fail', {}),
  tool('big', { bytes: { type: 'integer', minimum: 0 } }),
  tool('die', {}),
];

const textOf = (text) => ({ content: [{ type: 'text', text }] });

/**
 * The result of a request; undefined for a method that is not known.
 *
 * @param {{ received: (call: number) => void, die: () => Promise<object> }} server
 */
export async function resultOf({ method, params = {} }, server) {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'soak', version: '1.0.0' } };
    }
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: TOOLS };
    case 'tools/call':
      return callTool(params, server);
    default:
      return undefined;
  }
}

async function callTool({ name, arguments: { call, ms, bytes } }, { received, die }) {
  received(call);
  switch (name) {
    case 'die':
      return die();
    case 'fail':
      return { ...textOf(`failed ${call}`), isError: true };
    case 'big':
      return textOf(`big ${call} ${'x'.repeat(bytes)}`);
    case 'sleep':
      await wait(ms);
      return textOf(`slept ${call}`);
    default:
      return textOf(`echo ${call}`);
  }
}

export function errorOf(id, method) {
  return { jsonrpc: '2.0', id, error: { code: -32601, message: `Method not found: ${method}` } };
}
