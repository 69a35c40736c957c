// An MCP server over stdio for the tests of the tools over MCP and in the terminal: results, errors and progress of every kind.
// STARTS: a file to which each process adds its PID. COUNT: how many tools there are in addition.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { STARTS, COUNT = '0' } = process.env;
if (STARTS !== undefined) appendFileSync(STARTS, `${process.pid}\n`);

const write = (...messages) =>
  process.stdout.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
const text = (text) => ({ content: [{ type: 'text', text }] });
const ECHO_SCHEMA = {
  type: 'object',
  properties: { message: { $ref: '#/$defs/message' } },
  required: ['message'],
  additionalProperties: false,
  $defs: { message: { type: 'string', description: 'What to say' } },
};
const SUM_SCHEMA = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
let cancellations = 0;

const TOOLS = {
  echo: {
    title: 'Echo',
    description: 'Says it again.',
    inputSchema: ECHO_SCHEMA,
    annotations: { readOnlyHint: true, title: 'Echo' },
    run: ({ message }) => text(message),
  },
  sum: {
    outputSchema: SUM_SCHEMA,
    run: ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  },
  picture: {
    run: () => ({
      content: [
        { type: 'text', text: 'A picture' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'file:///a.png', name: 'a.png' },
      ],
      _meta: { 'example.com/size': 1 },
    }),
  },
  fail: { run: () => ({ ...text('It did not work.'), isError: true }) },
  refuse: { error: { code: -32050, message: 'Not today', data: { hint: 'tomorrow' } } },
  /** The last progress is read together with the result. */
  steps: {
    run: (_, id, token) => {
      const report = (progress) =>
        token === undefined
          ? []
          : [
              {
                method: 'notifications/progress',
                params: { progressToken: token, progress, total: 2, message: `step ${progress}` },
              },
            ];
      write(...report(1));
      setTimeout(() => write(...report(2), { id, result: text('Done.') }), 50);
    },
  },
  /** Answers only if it is cancelled, which is too late. */
  wait: { run: () => {} },
  cancellations: { run: () => text(String(cancellations)) },
  environment: { run: () => ({ content: [], structuredContent: process.env }) },
  exit: {
    run: () => {
      process.stderr.write('It was asked to exit.\n');
      process.exit(3);
    },
  },
  more: {
    run: (_, id) => {
      TOOLS.added = { run: () => text('I am new.') };
      write({ method: 'notifications/tools/list_changed' }, { id, result: text('Added.') });
    },
  },
};
for (let index = 0; index < Number(COUNT); index += 1) TOOLS[`tool_${index}`] = { run: () => text(String(index)) };

function respond({ id, method, params }) {
  if (method === 'notifications/cancelled') cancellations += 1;
  if (id === undefined) return;
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: 'exposed-tools', version: '1.0.0' };
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  } else if (method === 'tools/list') {
    const tools = Object.entries(TOOLS).map(([name, { run, error, ...tool }]) => ({
      name,
      inputSchema: { type: 'object' },
      ...tool,
    }));
    write({ id, result: { tools } });
  } else if (method === 'tools/call') {
    const { run, error } = TOOLS[params.name];
    if (error !== undefined) return write({ id, error });
    const result = run(params.arguments, id, params._meta?.progressToken);
    if (result?.content !== undefined) write({ id, result });
  } else write({ id, result: {} });
}

createInterface({ input: process.stdin }).on('line', (line) => respond(JSON.parse(line)));
