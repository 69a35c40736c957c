// A small MCP server over stdio, without packages, that repeats what it knows (its environment and its arguments) in every way.
// With `exits` as its first argument it ends at the start; with `refuses` it answers `initialize` with an error.
import { createInterface } from 'node:readline';

const [mode, ...rest] = process.argv.slice(2);
const { PATH: _, HOME: _home, ...envs } = process.env;
const known = [...Object.values(envs), ...rest];
const spellings = (text) => [
  text,
  JSON.stringify(JSON.stringify({ text })),
  encodeURIComponent(text),
  Buffer.from(text).toString('base64'),
  text.replace(/^.{5}/, '$&\u200b'),
];
const LEAK = known.flatMap(spellings).join(' | ');
const DATA = {
  list: known,
  nested: { json: JSON.stringify(known) },
  ...Object.fromEntries(known.map((one) => [one, 1])),
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const content = [{ type: 'text', text: LEAK }];
const tool = (name, more = {}) => ({
  name,
  title: `Title ${LEAK}`,
  description: `Description ${LEAK}`,
  inputSchema: { type: 'object', properties: { x: { type: 'string', description: LEAK, enum: known } } },
  annotations: { readOnlyHint: true },
  ...more,
});

const CALLS = {
  result: () => ({ result: { content, structuredContent: DATA } }),
  mismatch: () => ({ result: { content, structuredContent: { a: LEAK } } }),
  is_error: () => ({ result: { content, isError: true } }),
  rpc_error: () => ({ error: { code: -32000, message: `Failed: ${LEAK}`, data: DATA } }),
  no_result: () => ({ result: LEAK }),
  progress: (token) => {
    const params = { progressToken: token, progress: 1, message: LEAK };
    if (token !== undefined) send({ method: 'notifications/progress', params });
    send({ method: 'notifications/message', params: { level: 'error', data: LEAK } });
    return { result: { content: [{ type: 'text', text: 'done' }] } };
  },
  dies: () => {
    process.stderr.write(`Cannot continue: ${LEAK}\n`, () => process.exit(3));
  },
};
const TOOLS = Object.keys(CALLS).map((name) =>
  name === 'mismatch'
    ? tool(name, { outputSchema: { type: 'object', properties: { a: { const: LEAK } } } })
    : tool(name),
);

process.stderr.write(`Starting with ${LEAK}\n${known.join('\n')}\n`);
if (mode === 'exits') process.exit(2);
process.stdout.write(`not JSON: ${LEAK}\n`);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const serverInfo = { name: `indiscreet ${LEAK}`, version: LEAK };
  if (mode === 'refuses') send({ id, error: { code: -32603, message: LEAK, data: DATA } });
  else if (method === 'initialize') {
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: LEAK } });
  } else if (method === 'tools/list') send({ id, result: { tools: TOOLS } });
  else if (method === 'tools/call') {
    const reply = CALLS[params.name]?.(params._meta?.progressToken);
    if (reply !== undefined) send({ id, ...reply });
  } else send({ id, error: { code: -32601, message: LEAK } });
});
