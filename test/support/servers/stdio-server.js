// The MCP server of the tests on standard input and output. With `--tools=<name>` as its first argument, it has the tools of the file
// <name>-tools.js; without, the standard tools and one more per way to misbehave during a call. Each further argument is a way to
// misbehave at other times; arguments that it does not know, such as a tag that identifies its processes, have no effect.
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { StandardTools } from './standard-tools.js';

const args = process.argv.slice(2);
const is = (behaviour) => args.includes(behaviour);
const tools = new StandardTools();
const [, set] = /^--tools=(.*)/.exec(args[0]) ?? [];
/** Each tool has its description, and `run`, or the `error` of its calls; what it does not return is never answered. */
const { TOOLS, greet } = set === undefined ? {} : await import(`./${set}-tools.js`);
/** The calls in flight, by the ID of the request. */
const calls = new Map();

function send(...messages) {
  process.stdout.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
}

/** Whatever happens to the test, not for ever. */
function stayAlive() {
  setTimeout(() => process.exit(), 60_000);
}

/** The same program with other behaviour, in the same process group, which holds this program's output open. */
function leaveChild(behaviours, options = {}) {
  const tags = args.filter((arg) => arg.startsWith('--tag='));
  spawn(process.execPath, [fileURLToPath(import.meta.url), ...behaviours, ...tags], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ...options,
  });
}

/** Tools that no well-behaved server has; each gets the ID of the request and the arguments. */
const MISBEHAVIOUR = {
  exit: (_, { code = 1, words = 'out of cheese' }) => {
    process.stderr.write(`${words}\n`);
    process.exit(code);
  },
  kill: () => process.kill(process.pid, 'SIGKILL'),
  huge: (id, { size, at = 'first' }) => {
    const result = `{"content":[{"type":"text","text":"${'x'.repeat(size)}"}]}`;
    const line = {
      first: `"id":${id},"result":${result}`,
      last: `"result":${result},"id":${id}`,
      hidden: `"extra":1,"id":${id},"result":${result}`,
      malformed: `"id":"\\q","result":${result}`,
    };
    process.stdout.write(`{"jsonrpc":"2.0",${line[at]}}\n`);
  },
  hugeNote: (id, { size }) => {
    send({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(size) } });
    send({ id, result: { content: [{ type: 'text', text: 'noted' }] } });
  },
  /** Writes this line so often. */
  repeat: async (id, { line, times }) => {
    for (let written = 0; written < times; written += 1000) {
      const isRead = process.stdout.write(`${line}\n`.repeat(Math.min(times, 1000)));
      if (!isRead) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    send({ id, result: { content: [{ type: 'text', text: 'repeated' }] } });
  },
  nothing: () => {},
  malformed: (id) => process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[\n`),
  noResult: (id) => send({ id, result: { answer: 42 } }),
  /** Refuses a call without its ID, as for a text that is no JSON. */
  noId: () => send({ id: null, error: { code: -32600, message: 'the call has no form' } }),
  noObject: (id) => send({ id, result: 'forty-two' }),
  closeOutput: () => closeSync(1),
  closeInput: (id) => {
    process.stdin.destroy();
    closeSync(0);
    stayAlive();
    send({ id, result: { content: [] } });
  },
  deafen: (id) => {
    input.pause();
    stayAlive();
    send({ id, result: { content: [] } });
  },
  running: (id) => send({ id, result: { content: [], structuredContent: { calls: calls.size } } }),
  greeting: (id) => send({ id, result: { content: [], structuredContent: greeting } }),
  environment: (id) => send({ id, result: { content: [], structuredContent: process.env } }),
  pingBack: async (id) => {
    const answers = {};
    for (const method of ['ping', 'roots/list', 'sampling/createMessage']) {
      send({ id: `to-client-${method}`, method, params: {} });
      answers[method] = await new Promise((resolve) => {
        onResponse = resolve;
      });
    }
    send({ id, result: { content: [], structuredContent: answers } });
  },
};

let onResponse = () => {};
/** The parameters of `initialize`. */
let greeting;
/** Reads nothing before this file exists. */
const [held] = args.flatMap((arg) => (arg.startsWith('--held=') ? arg.slice(7) : []));
while (held !== undefined && !existsSync(held)) await new Promise((resolve) => setTimeout(resolve, 10));
const input = createInterface({ input: process.stdin });

async function onRequest({ id, method, params = {} }) {
  if (method === 'initialize') {
    greeting = params;
    if (is('never-initialize')) return;
    if (is('bare-initialize')) return send({ id: String(id), result: {} });
    if (is('refuse-initialize')) return send({ id, error: { code: -32000, message: 'no licence' } });
    const protocolVersion = is('other-revision') ? '1999-12-31' : is('old-revision') ? '2024-11-05' : '2025-11-25';
    const tools = is('unannounced') ? {} : { listChanged: true };
    const capabilities = { tools, ...(TOOLS === undefined && { prompts: { listChanged: true } }) };
    const serverInfo = { name: 'stdio-server', version: '1.2.3' };
    try {
      return send({ id, result: { protocolVersion, capabilities, serverInfo, ...greet?.() } });
    } catch (error) {
      return send({ id, error });
    }
  }
  if (method === 'tools/list') return send({ id, result: listTools(params.cursor) });
  if (method === 'prompts/list') return send({ id, result: tools.listPrompts(params.cursor) });
  if (method === 'prompts/get') return getPrompt(id, params);
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: 'Method not found' } });
  const { name, arguments: input = {}, _meta: { progressToken } = {} } = params;
  if (TOOLS === undefined && name in MISBEHAVIOUR) return MISBEHAVIOUR[name](id, input);
  const call = new AbortController();
  calls.set(id, call);
  const onProgress = (progress) => {
    if (progressToken !== undefined) send({ method: 'notifications/progress', params: { progressToken, ...progress } });
  };
  try {
    const exchange = { id, progressToken, onProgress, send, signal: call.signal };
    let result = TOOLS === undefined ? tools.call(name, input, exchange) : run(TOOLS[name], input, exchange);
    // What is known is sent before the next message, which may end the process, is read.
    if (result instanceof Promise) result = await result;
    if (result !== undefined && !call.signal.aborted) send({ id, result });
  } catch ({ code, message, data }) {
    send({ id, error: { code, message, data } });
  }
  calls.delete(id);
}

async function getPrompt(id, { name, arguments: input }) {
  const call = new AbortController();
  calls.set(id, call);
  try {
    const result = await tools.getPrompt(name, input, call.signal);
    if (!call.signal.aborted) send({ id, result });
  } catch ({ code, message, data }) {
    send({ id, error: { code, message, data } });
  }
  calls.delete(id);
}

function run({ run, error }, input, exchange) {
  if (error !== undefined) throw error;
  return run?.(input, exchange);
}

function listTools(cursor) {
  if (TOOLS !== undefined) {
    const described = Object.entries(TOOLS).map(([name, { run, error, ...tool }]) => ({ name, ...tool }));
    return { tools: described.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })) };
  }
  if (is('lists-1000'))
    return { tools: Array.from({ length: 1000 }, (_, at) => ({ name: `tool${at}`, inputSchema: {} })) };
  const page = tools.list(cursor);
  if (!is('lists-all') || page.nextCursor !== undefined) return page;
  const more = Object.keys(MISBEHAVIOUR).map((name) => ({ name, inputSchema: { type: 'object' } }));
  return { ...page, tools: [...page.tools, ...more] };
}

function onLine(line) {
  const message = JSON.parse(line);
  if (message.method === undefined) onResponse(message);
  else if (message.id !== undefined) void onRequest(message);
  else if (message.method === 'notifications/cancelled') calls.get(message.params.requestId)?.abort();
}

if (is('endless-list')) tools.listWithoutEnd(100);
tools.onChanged = () => send({ method: 'notifications/tools/list_changed' });
tools.onPromptsChanged = () => send({ method: 'notifications/prompts/list_changed' });
if (is('exit-early-on-stdout')) {
  process.stdout.write('no configuration found\n');
  process.exit(3);
}
if (is('exit-early')) {
  process.stderr.write('reading the configuration\nno configuration found\n');
  process.exit(3);
}
// More than a pipe holds: the write returns when everything was read.
if (is('flood')) for (let line = 0; line < 40_000; line += 1) writeSync(2, `${line} ${'x'.repeat(100)}\n`);
if (is('talkative')) process.stderr.write('listening on standard input\n');
if (is('stubborn')) {
  process.on('SIGTERM', () => {});
  stayAlive();
}
if (is('with-children')) for (const behaviours of [['stubborn'], ['idle']]) leaveChild(behaviours);
if (is('with-child')) leaveChild(['idle']);
// A session of its own, as browsers have.
if (is('with-detached')) leaveChild(['stubborn', 'with-child', 'idle'], { detached: true, stdio: 'ignore' });
// A daemon: the parent of its parent has ended.
if (is('with-daemon')) leaveChild(['launcher'], { detached: true, stdio: 'ignore' });
if (is('launcher')) {
  leaveChild(['idle'], { detached: true, stdio: 'ignore' });
  process.exit();
}
/** Notes in this file what it notices of its end, and saves something for a moment. */
const [farewell] = args.flatMap((arg) => (arg.startsWith('--farewell=') ? arg.slice(11) : []));
if (farewell !== undefined) {
  const note = (what) => appendFileSync(farewell, `${what}\n`);
  process.stdin.once('end', () => {
    note('end of input');
    setTimeout(() => note('saved'), 200);
  });
  process.once('SIGTERM', () => {
    note('SIGTERM');
    process.exit();
  });
}
if (is('idle') || is('idle-after-input')) stayAlive();
if (!is('idle')) input.on('line', onLine);
