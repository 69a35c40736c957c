// An MCP server without dependencies, for trying the gateway: one JSON message per line on stdin and stdout.
import { createInterface } from 'node:readline';

const notes = ['Deploy on Tuesdays.', 'The spare key is in drawer 3.', 'The Wi-Fi password changes on Tuesdays.'];
const search = (word) => notes.filter((note) => note.toLowerCase().includes(word.toLowerCase()));
const tool = {
  name: 'search_notes',
  description: 'Finds the notes that contain a word.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  annotations: { readOnlyHint: true },
};
const serverInfo = { name: 'notes', version: '1.0.0' };

function resultOf(method, params) {
  if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: [tool] };
  if (method !== 'tools/call' || params.name !== tool.name) return undefined;
  return { content: [{ type: 'text', text: JSON.stringify(search(params.arguments.word)) }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // Notifications are not answered.
  const result = resultOf(method, params);
  const answer = result ? { result } : { error: { code: -32601, message: 'Unknown method or tool' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
