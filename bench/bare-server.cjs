// The smallest server with the same conversation, from literals. As CommonJS and, copied to .mjs, as an ES module.
const tools = ['answer', 'answer_detailed', 'answer_quick'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const serverInfo = { name: 'bare', version: '0.0.0' };
const initialized = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
const results = { initialize: initialized, 'tools/list': { tools } };
let unread = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (unread + chunk).split('\n');
  unread = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n`);
  }
});
