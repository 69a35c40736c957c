// A minimal MCP client over the standard input and output of a child process, for the scripts and the benches.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../../build/index.js', import.meta.url));

/**
 * Starts a script of Node.js, by default the built server. Messages are written as `Content-Length` frames or as lines; they are read in either.
 *
 * @param {{ script?: string, args?: string[], nodeArgs?: string[], framing?: 'framed' | 'line', env?: NodeJS.ProcessEnv }} [options]
 */
export function startServer({ script = PROGRAM, args = ['--stdio'], nodeArgs = [], framing = 'line', env } = {}) {
  if (!existsSync(script)) {
    console.error(`${script} does not exist. Run: npm run build`);
    process.exit(1);
  }
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  const notifications = [];
  const unasked = [];
  let unread = Buffer.alloc(0);
  let nextId = 1;
  let ended;

  const take = (message) => {
    if (message.id === undefined) notifications.push(message);
    else if (!waiting.has(message.id)) unasked.push(message);
    waiting.get(message.id)?.resolve(message);
    waiting.delete(message.id);
  };
  child.stdout.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    for (let found = toMessage(unread); found !== undefined; found = toMessage(unread)) {
      unread = unread.subarray(found.end);
      take(found.message);
    }
  });
  // If the server has ended, its exit is reported instead of a failed write.
  child.stdin.on('error', () => {});
  const exited = new Promise((resolve) => {
    child.once('close', (code, signal) => {
      ended = new Error(`The server ended (${signal ?? `exit code ${code}`}) before it answered.`);
      for (const { reject } of waiting.values()) reject(ended);
      resolve({ code, signal });
    });
  });

  const send = (message) => {
    const json = JSON.stringify(message);
    child.stdin.write(framing === 'line' ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
  };
  /** Sends a message, and waits for the response with the same ID. */
  const ask = (message) => {
    const response = new Promise((resolve, reject) => {
      if (ended) reject(ended);
      else waiting.set(message.id, { resolve, reject });
    });
    send(message);
    return response;
  };
  const notify = (method, params) => send({ jsonrpc: '2.0', method, params });
  const request = (method, params) => {
    const id = nextId;
    nextId += 1;
    return ask({ jsonrpc: '2.0', id, method, params });
  };

  return {
    child,
    /** The messages without an ID that the server wrote, in order. */
    notifications,
    /** The responses that belong to no request that waits. */
    unasked,
    ask,
    notify,
    request,
    callTool: (name, args) => request('tools/call', { name, arguments: args }),
    initialize: async () => {
      const response = await request('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'openai-responses-mcp-scripts', version: '1.0.0' },
      });
      notify('notifications/initialized');
      return response;
    },
    /** Ends the server's input and waits until the server exits. */
    close: () => {
      child.stdin.end();
      return exited;
    },
    exited,
  };
}

/** The answer in a response to `tools/call`. Throws an error with a message if it contains none. */
export function answerOf(response) {
  if (response.error) throw new Error(response.error.data?.message ?? response.error.message);
  const text = response.result.content[0].text;
  if (response.result.isError) throw new Error(text);
  const answer = JSON.parse(text);
  const missing = ['answer', 'used_search', 'citations', 'model'].filter((key) => !(key in answer));
  if (missing.length > 0) throw new Error(`The answer does not contain ${missing.join(', ')}.`);
  return answer;
}

/** Runs a script, prints a failure in one line, and exits with 0 or 1. */
export function runScript(script) {
  script().then(
    () => process.exit(0),
    (error) => {
      console.error(`FAILED: ${error.message}`);
      process.exit(1);
    },
  );
}

/** Fails after `ms`, so that no script waits forever. */
export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no response within ${ms / 1000} s.`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The first complete message of some bytes, and where it ends; undefined if it is not complete yet. */
function toMessage(bytes) {
  const header = /^Content-Length: (\d+)\r\n\r\n/.exec(bytes.toString('latin1', 0, 64));
  const lineEnd = bytes.indexOf('\n');
  if (!header && (lineEnd < 0 || bytes.toString('latin1', 0, 8) === 'Content-')) return undefined;
  const start = header ? header[0].length : 0;
  const end = header ? start + Number(header[1]) : lineEnd + 1;
  if (bytes.length < end) return undefined;
  return { message: JSON.parse(bytes.toString('utf8', start, end)), end };
}
