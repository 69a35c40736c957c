// A server that reads and writes texts, not values, so that every digit stays. Its tool `text` returns only a text. With the argument `stdio` it runs on standard input and output.
import { createInterface } from 'node:readline';

const SCHEMA = '"inputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}';
const RESULTS = {
  initialize: '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}',
  'tools/list': `{"tools":[{"name":"echo",${SCHEMA}},{"name":"text",${SCHEMA}}]}`,
};

export const OUTPUT = '{"id":725653563933458432123,"share":0.12345678901234567891}';

/** The answer to a message, both as texts. A call gets its arguments as they came. Undefined for a notification. */
export function answerTo(text) {
  const { id, method } = JSON.parse(text);
  if (id === undefined) return undefined;
  const [, received] = /"arguments":(\{[^{}]*\})/.exec(text) ?? [];
  const block = `{"type":"text","text":${JSON.stringify(`got ${received}`)}}`;
  const structured = text.includes('"name":"text"') ? '' : `,"structuredContent":${OUTPUT}`;
  const result = method === 'tools/call' ? `{"content":[${block}]${structured}}` : (RESULTS[method] ?? undefined);
  const answer = result === undefined ? '"error":{"code":-32601,"message":"Method not found"}' : `"result":${result}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer}}`;
}

if (process.argv[2] === 'stdio') {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const answer = answerTo(line);
    if (answer !== undefined) process.stdout.write(`${answer}\n`);
  });
}
