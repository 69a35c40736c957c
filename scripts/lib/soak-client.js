// A client that counts pending, received and duplicate responses. Its server is a child process.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../build/index.js', import.meta.url));
const MEMORY = new URL('./soak-memory.js', import.meta.url);

/**
 * Starts the built server.
 *
 * @param {{ framing: 'framed' | 'line', env: Record<string, string>, random: () => number }} options
 */
export function startSoakClient({ framing, env, random }) {
  const child = spawn(process.execPath, [`--import=${MEMORY}`, PROGRAM, '--stdio'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: 'pipe',
  });
  /** Requests without a response, by ID; also cancelled ones until the server has read the cancellation. */
  const owed = new Map();
  const account = {
    /** Requests by name, and answers and failures of calls by kind. */
    sent: {},
    answers: 0,
    errors: {},
    cancelled: 0,
    /** Messages about what must not happen. */
    problems: [],
    duplicates: 0,
    /** Response times since this was last emptied, in ms. */
    times: [],
    memory: undefined,
  };
  let nextId = 0;

  const write = (bytes) => {
    // Half of the messages are split at a random position.
    const cut = random() < 0.5 ? bytes.length : Math.floor(random() * bytes.length);
    child.stdin.write(bytes.subarray(0, cut));
    if (cut < bytes.length) child.stdin.write(bytes.subarray(cut));
  };
  const send = (message) => {
    const json = JSON.stringify(message);
    write(Buffer.from(framing === 'line' ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`));
  };
  const request = (name, method, params, check) => {
    nextId += 1;
    const id = nextId;
    account.sent[name] = (account.sent[name] ?? 0) + 1;
    send({ jsonrpc: '2.0', id, method, params });
    return new Promise((settle) =>
      owed.set(id, { name, sentAt: performance.now(), check, settle, isCancelled: false }),
    );
  };

  const take = (message) => {
    if (message.id === undefined) return;
    const entry = owed.get(message.id);
    if (entry === undefined) {
      account.duplicates += 1;
      account.problems.push(`a response without a request: ${JSON.stringify(message).slice(0, 200)}`);
      return;
    }
    owed.delete(message.id);
    const problem = entry.check(message, performance.now() - entry.sentAt);
    if (problem !== undefined) account.problems.push(problem);
    entry.settle();
  };

  child.stdout.on('data', createReader(take));
  child.stderr.on('data', (chunk) => {
    for (const line of String(chunk)
      .split('\n')
      .filter((line) => line !== '')) {
      if (line.startsWith('memory ')) account.memory = JSON.parse(line.slice(7));
      else account.problems.push(`on standard error: ${line}`);
    }
  });
  // A write to a server that is gone shows as its exit.
  child.stdin.on('error', () => {});
  const exited = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));

  const checkCall = (number) => (message, ms) => {
    if (message.error) {
      const kind = kindOf(message.error);
      account.errors[kind] = (account.errors[kind] ?? 0) + 1;
      return kind === 'other' ? `an error of another kind: ${JSON.stringify(message.error)}` : undefined;
    }
    account.answers += 1;
    account.times.push(ms);
    const { answer } = message.result.structuredContent;
    return answer.startsWith(`answer ${number}`) ? undefined : `question ${number} got ${JSON.stringify(answer)}`;
  };
  const expectError = (code) => (message) =>
    message.error?.code === code ? undefined : `expected ${code}, got ${JSON.stringify(message).slice(0, 200)}`;
  const expectResult = (message) => (message.result ? undefined : `expected a result: ${JSON.stringify(message)}`);

  return {
    account,
    exited,
    /** Resolves when the call is answered, or cancelled for good. */
    call: () => {
      const number = nextId + 1;
      const progress = number % 3 === 0 ? { _meta: { progressToken: number } } : {};
      const params = { name: 'answer', arguments: { query: `question ${number}` }, ...progress };
      const settled = request('calls', 'tools/call', params, checkCall(number));
      return { id: number, settled };
    },
    /** The answer may cross the cancellation, but may not arrive after the response to the ping that follows it. */
    cancel: (id) => {
      const entry = owed.get(id);
      if (entry === undefined) return;
      account.cancelled += 1;
      entry.isCancelled = true;
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      void request('pings', 'ping', {}, expectResult).then(() => {
        owed.delete(id);
        entry.settle();
      });
    },
    initialize: () => {
      const clientInfo = { name: 'soak', version: '1.0.0' };
      return request(
        'others',
        'initialize',
        { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
        expectResult,
      );
    },
    ping: () => request('pings', 'ping', {}, expectResult),
    list: () => request('others', 'tools/list', {}, expectResult),
    callWithoutQuery: () => request('others', 'tools/call', { name: 'answer', arguments: {} }, expectError(-32602)),
    callUnknownTool: () => request('others', 'tools/call', { name: 'unknown', arguments: {} }, expectError(-32601)),
    /** Sends bytes that are not a message. */
    garble: () => {
      const [frames, lines] = [
        ['Content-Length: 5\r\n\r\nabcde', 'Content-Length: many\r\n\r\n', 'X-Header: 1\r\n\r\n'],
        ['this is not JSON\n', '{"jsonrpc":"2.0","id":\n', '\n', '[]\n', '\u{1F600}\n'],
      ];
      account.sent.garbage = (account.sent.garbage ?? 0) + 1;
      const garbage = framing === 'line' ? lines : frames;
      write(Buffer.from(garbage[Math.floor(random() * garbage.length)]));
    },
    /** The number of requests that have waited for longer than `ms`. */
    overdue: (ms) => [...owed.values()].filter(({ sentAt }) => performance.now() - sentAt > ms).length,
    /** Requests a measurement of the memory; the result is in `account.memory` a moment later. */
    measure: () => {
      if (process.platform !== 'win32') child.kill('SIGUSR2');
    },
    /** Ends the input. Requests in flight must still be answered. */
    end: () => child.stdin.end(),
    /** The number of missing responses, after the process has exited. */
    lost: () => [...owed.values()].filter(({ isCancelled }) => !isCancelled).length,
    kill: () => child.kill('SIGKILL'),
  };
}

const KINDS = [
  ['429', /^Rate limit reached/],
  ['5xx', /^The API failed/],
  ['connection', /^Could not (?:connect|get a complete response)/],
  ['timeout', /^No answer within/],
  ['400', /^The API rejected the request/],
  ['quota', /^The quota of the account is exhausted/],
  ['filtered', /content filter/],
  ['unreadable', /could not be read/],
];

function kindOf({ code, data }) {
  return (code === -32001 && KINDS.find(([, words]) => words.test(data.message))?.[0]) || 'other';
}

/** Finds the messages in the output of the server, in lines or frames. */
function createReader(take) {
  let unread = Buffer.alloc(0);
  return (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    for (;;) {
      const header = /^Content-Length: (\d+)\r\n\r\n/.exec(unread.toString('latin1', 0, 64));
      const lineEnd = unread.indexOf('\n');
      if (!header && (lineEnd < 0 || unread.toString('latin1', 0, 8) === 'Content-')) return;
      const start = header ? header[0].length : 0;
      const end = header ? start + Number(header[1]) : lineEnd + 1;
      if (unread.length < end) return;
      take(JSON.parse(unread.toString('utf8', start, end)));
      unread = unread.subarray(end);
    }
  };
}
