import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { startHttpProcess } from '../support/http-process.ts';
import { posixTest } from '../support/platform.ts';
import { STDIO_SERVER } from '../support/process-tree.ts';
import { until } from '../support/until.ts';
import { newFile } from './files.ts';
import { configure } from './gateway/servers.ts';
import { API_KEY, ROOT, serve } from './serve.ts';

/** What the program creates, as counted by `test/support/count-work.js`. */
interface Work {
  /** Each async function, `await` and `then` creates some. */
  readonly promises: number;
  /** `setTimeout` and `setInterval` */
  readonly timers: number;
  /** `setImmediate` */
  readonly immediates: number;
  readonly abortSignals: number;
  readonly webStreams: number;
  /** The bytes given to `JSON.parse`. */
  readonly parsedBytes: number;
}

const NAMES = ['promises', 'timers', 'immediates', 'abortSignals', 'webStreams', 'parsedBytes'] as const;

type Door = 'stdio' | 'HTTP' | 'REST';

/**
 * What one call creates, as measured with Node.js 20; with 22 and 24 it is the same or less. Times depend on the machine, so that no
 * test can have them; what a call creates decides most of its time.
 */
const LIMITS: readonly (readonly ['an answer' | 'an own call', Door, Work])[] = [
  ['an answer', 'stdio', work(61, 2, 2, 3, 0, 10_380)],
  ['an answer', 'HTTP', work(102, 4, 3, 3, 0, 10_379)],
  ['an answer', 'REST', work(95, 3, 3, 3, 0, 11_083)],
  ['an own call', 'stdio', work(47, 1, 1, 2, 0, 210)],
  ['an own call', 'HTTP', work(89, 3, 2, 2, 0, 209)],
  ['an own call', 'REST', work(74, 2, 2, 2, 0, 163)],
];

const ADVICE = `One call does more than before. Do the new work once, or not at all: CONTRIBUTING.md ("The bench") says how to compare
with the commit before. If a user needs it in each call, raise the limit, and say why in the commit.`;

const COUNTS_WORK = `--import=${pathToFileURL(`${ROOT}/test/support/count-work.js`).href}`;

/** Loads packages and opens connections; the IDs of later requests have two digits. */
const WARM_UP_CALLS = 20;
const MEASURED_CALLS = 15;

posixTest('moreSignals').for(LIMITS)('work of %s over %s', async ([kind, door, limits]) => {
  const { program, call } = await open(door);
  const { expected, server, tool, input } = CALLS[kind];
  const callOnce = async () => expect(await call(server, tool, input)).toContain(expected);
  for (let count = 0; count < WARM_UP_CALLS; count += 1) await callOnce();
  const counts = [await countOf(program)];
  for (let count = 0; count < MEASURED_CALLS; count += 1) {
    await callOnce();
    counts.push(await countOf(program));
  }
  const grown = NAMES.flatMap((name) => {
    // The median, because now and then something happens that belongs to no call.
    const created = median(counts.slice(1).map((count, index) => count[name] - (counts[index]?.[name] ?? 0)));
    const more = created - limits[name];
    return more > 0 ? [`${name}: ${created}, ${more} more than the limit of ${limits[name]}`] : [];
  });
  expect(grown, ADVICE).toEqual([]);
});

posixTest('moreSignals')('each kind of work is counted', async () => {
  const program = newFile(
    'works.mjs',
    `import { ReadableStream as Imported } from 'node:stream/web';
    process.stdin.once('data', () => {
      void new Promise(() => {});
      setTimeout(() => {});
      setImmediate(() => {});
      void [new AbortController(), AbortSignal.abort(), AbortSignal.any([])];
      void [new ReadableStream(), new Imported(), new WritableStream(), new TransformStream()];
      JSON.parse('["é"]');
      process.stderr.write('done');
    });
    process.stderr.write('ready');`,
  );
  const working = serve({ program, args: [], env: { NODE_OPTIONS: COUNTS_WORK } });
  await until(() => working.stderr().includes('ready'));
  const before = await countOf(working);
  working.notify('work');
  await until(() => working.stderr().includes('done'));
  const after = await countOf(working);
  const { promises, ...others } = work(...NAMES.map((name) => after[name] - before[name]));
  expect(promises).toBeGreaterThan(0);
  expect(others).toEqual({ timers: 1, immediates: 1, abortSignals: 3, webStreams: 4, parsedBytes: 6 });
});

const CALLS = {
  'an answer': {
    expected: 'Tokyo',
    server: 'openai-responses-mcp',
    tool: 'answer',
    input: { query: 'What is the weather today?' },
  },
  'an own call': { expected: 'The same text.', server: 'files', tool: 'echo', input: { text: 'The same text.' } },
};

type Call = (server: string, tool: string, input: object) => Promise<string>;

interface Program {
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly stderr: () => string;
}

/** The program with one server and an API, and a way to call it that resolves with the text of the response. */
async function open(door: Door): Promise<{ readonly program: Program; readonly call: Call }> {
  const { config } = configure(['files'], { last: { args: [STDIO_SERVER] } });
  const args = ['--expose', '--config', config];
  const env = {
    NODE_OPTIONS: COUNTS_WORK,
    OPENAI_API_KEY: API_KEY,
    OPENAI_BASE_URL: await startApi(),
  };
  const nameOf = (server: string, tool: string) => (server === 'files' ? `${server}__${tool}` : tool);
  if (door === 'stdio') {
    const program = serve({ args: ['--stdio', ...args], env });
    await program.initialize();
    const call: Call = async (server, tool, input) =>
      JSON.stringify(await program.callTool(nameOf(server, tool), input));
    return { program, call };
  }
  const program = await startHttpProcess({ args: ['--http=127.0.0.1:0', ...args], env });
  if (door === 'REST') {
    return { program, call: (server, toolName, input) => post(`${program.url}/call`, { server, toolName, input }) };
  }
  const call: Call = (server, tool, input) => {
    const params = { name: nameOf(server, tool), arguments: input };
    return post(program.url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  };
  return { program, call };
}

/** On a connection that stays open. */
async function post(url: string, message: object): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) })).text();
}

/** An API that sends a recorded reply in one piece, because each chunk that the program reads is work. */
async function startApi(): Promise<string> {
  const reply = readFileSync(`${ROOT}/recordings/answer-tokyo-weather-en.sse`);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'content-length': reply.length };
  const api = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.resume().once('end', () => response.writeHead(200, headers).end(reply));
  });
  onTestFinished(() => void api.close().closeAllConnections());
  await once(api.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`;
}

/** What the program has created since its start. */
async function countOf({ kill, stderr }: Program): Promise<Work> {
  const reports = () => [...stderr().matchAll(/^work (.*)\n/gm)].map(([, json = '']) => json);
  const before = reports().length;
  kill('SIGUSR2');
  await until(() => reports().length > before);
  return JSON.parse(reports().at(-1) ?? '');
}

/** Amounts in the order of `NAMES`. */
function work(...amounts: readonly number[]): Work {
  return Object.fromEntries(NAMES.map((name, index) => [name, amounts[index]])) as unknown as Work;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
