// The smallest MCP server: one tool over standard input and output, which returns its text.
const TOOL = {
  name: 'echo',
  description: 'Returns the text.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 1000 }, times: { type: 'integer', minimum: 1 } },
    required: ['text'],
    additionalProperties: false,
  },
};

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
};

let unread = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (unread + chunk).split('\n');
  unread = lines.pop();
  let written = '';
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) written += `${JSON.stringify({ jsonrpc: '2.0', id, result: results[method](params) })}\n`;
  }
  if (written !== '') process.stdout.write(written);
});
process.stdin.on('end', () => process.exit(0));
