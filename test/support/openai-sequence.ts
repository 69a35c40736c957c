import type { Reply } from './http-client.ts';
import { send } from './http-client.ts';

const INITIALIZE = { capabilities: {}, clientInfo: { name: 'openai-mcp', version: '1.0.0' } };
const SESSION = { 'Mcp-Session-Id': 'DYA7LJDDDO2RI3WVFN5V5JUFEV' };

/**
 * What OpenAI's Responses API sends to an MCP server, as observed: `initialize` twice, with two revisions; a GET that
 * may stay open; the list; the end of the session; and then the call, under the same session nevertheless.
 */
export async function playOpenAi(url: string, query: string): Promise<readonly Reply[]> {
  const initialize = (protocolVersion: string, id: number) =>
    send(url, { body: { jsonrpc: '2.0', method: 'initialize', id, params: { protocolVersion, ...INITIALIZE } } });
  return [
    await initialize('2025-03-26', 1),
    await initialize('2025-06-18', 0),
    await send(url, { method: 'GET', headers: { ...SESSION, 'Content-Type': 'application/json' } }),
    await send(url, { headers: SESSION, body: { method: 'notifications/initialized', jsonrpc: '2.0' } }),
    await send(url, { headers: SESSION, body: { method: 'tools/list', jsonrpc: '2.0', id: 1 } }),
    await send(url, { method: 'DELETE', headers: { ...SESSION, 'Content-Type': 'application/json' } }),
    await send(url, {
      headers: SESSION,
      body: { method: 'tools/call', params: { name: 'answer', arguments: { query } }, jsonrpc: '2.0', id: 0 },
    }),
  ];
}

/** The required answers, one per message. */
export const CONTENT = [
  { status: 200, message: { id: 1, result: { protocolVersion: '2025-06-18' } } },
  { status: 200, message: { id: 0, result: { protocolVersion: '2025-06-18' } } },
  { status: 405 },
  { status: 202, text: '' },
  { status: 200, message: { id: 1, result: { tools: [{}, {}, {}] } } },
  { status: 204, text: '' },
  { status: 200, message: { id: 0, result: { content: [{ type: 'text' }] } } },
] as const;
