// A small MCP server over stdio, without packages: it plays the script in the JSON file that its argument names, and appends what
// happens to the log that the script names, one JSON object per line.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { tools, calls, log } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const write = (event) => appendFileSync(log, `${JSON.stringify(event)}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** The same for objects whose keys are in another order. */
function canonical(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return JSON.stringify(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, canonical(member)]),
  );
}

/** The reaction to a call: the first for these arguments. One with arguments is used once; without arguments, always. */
function reactionTo(name, args) {
  const reactions = calls[name] ?? [];
  const index = reactions.findIndex(
    (reaction) => !('args' in reaction) || canonical(reaction.args) === canonical(args),
  );
  const reaction = reactions[index];
  if (reaction !== undefined && 'args' in reaction) reactions.splice(index, 1);
  return reaction ?? { result: { isError: true, content: [{ type: 'text', text: `${name} was not expected` }] } };
}

function call(id, { name, arguments: args = {} }) {
  write({ event: 'call', name, args });
  const { result, error, does } = reactionTo(name, args);
  if (does === 'exit') process.exit(1);
  if (does === 'hang') return;
  send(error === undefined ? { id, result } : { id, error });
}

write({ event: 'start', pid: process.pid });
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (method === 'notifications/cancelled') write({ event: 'cancelled' });
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'scripted', version: '1.0.0' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else if (method === 'tools/call') call(id, params);
  else if (method === 'ping') send({ id, result: {} });
  else send({ id, error: { code: -32601, message: 'Method not found' } });
});
