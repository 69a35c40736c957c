// The hostile stdio servers of the soak under attack. Arguments: a text by which the soak finds the process, and `hostile` or `flood`.
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { errorOf } from './soak-tools.js';

const [, , , behaviour] = process.argv;

const object = (properties, more = {}) => ({ type: 'object', properties, ...more });
/** Each definition refers twice to the next: checking doubles with each level. */
const doubling = Object.fromEntries(
  Array.from({ length: 30 }, (_, level) => {
    const $ref = `#/$defs/d${level + 1}`;
    return [`d${level}`, level === 29 ? { type: 'number' } : { allOf: [{ $ref }, { $ref }] }];
  }),
);

const TOOLS = {
  pattern: object({ text: { type: 'string', pattern: '^(a+)+$' } }),
  unique: object({ list: { type: 'array', uniqueItems: true } }),
  doubling: object({ value: { $ref: '#/$defs/d0' } }, { $defs: doubling }),
  async: object({ text: { type: 'string' } }, { $async: true }),
  values: object({}),
  text: object({}),
  malformed: object({}),
};

let version = 0;
const listOf = () =>
  Object.entries(TOOLS).map(([name, inputSchema]) => ({ name, description: `v${version}`, inputSchema }));

const RESULTS = {
  values: () => {
    const structuredContent = { list: Array.from({ length: 500_000 }, (_, index) => ({ [index % 10]: 1 })) };
    return { content: [{ type: 'text', text: 'many' }], structuredContent };
  },
  text: () => ({ content: [{ type: 'text', text: 'x'.repeat(9_000_000) }] }),
};

const write = (message) => process.stdout.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);

function answer({ id, method, params = {} }) {
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return {
      protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'hostile', version: '1' },
    };
  }
  if (method === 'tools/list') return { tools: listOf() };
  if (method !== 'tools/call') return undefined;
  // Above the limit, so that only its beginning is read; the ID is no JSON.
  if (params.name === 'malformed') write(`{"jsonrpc":"2.0","id":"\\q${id}","result":"${'x'.repeat(11_000_000)}"}`);
  return (RESULTS[params.name] ?? (() => ({ content: [{ type: 'text', text: 'ok' }] })))();
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) return;
  const result = answer(message);
  write(result === undefined ? errorOf(message.id, message.method) : { jsonrpc: '2.0', id: message.id, result });
});
process.stdin.on('end', () => process.exit(0));

const FLOODS = [
  'INFO this server logs on its standard output',
  '{"a":1}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}',
];

if (behaviour === 'hostile') {
  setInterval(() => {
    version += 1;
    write({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }, 50).unref();
} else {
  await wait(1000);
  for (let round = 0; ; round += 1) {
    const chunk = `${FLOODS[Math.floor(round / 200) % FLOODS.length]}\n`.repeat(1000);
    if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}
