// From bytes to messages, next to JSON.parse of the same bytes: the reader alone (and vscode-jsonrpc's reader), and the built
// server, which reads requests from a pipe and answers them.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import * as vscode from 'vscode-jsonrpc/node';
import { compared, median, printCompared, printTable, round } from './lib/figures.js';
import { startLineProcess } from './lib/line-process.js';

const MB = 1024 * 1024;
const SERVER = fileURLToPath(new URL('../build/index.js', import.meta.url));
/** The time to read an 8 MB message, as a multiple of the time of JSON.parse. */
const TIME_LIMIT = 6;

export async function benchFrames(rounds) {
  const areKept = [await benchReader(rounds), await benchPipe(rounds)];
  return areKept.every(Boolean);
}

async function benchReader(rounds) {
  const MessageReader = await loadReader();
  const cases = [
    ['200 B messages', message(200), Math.floor((16 * MB) / 200)],
    ['8 MB messages', message(8 * MB), 2],
  ];
  const [rates, limits] = [[], []];
  for (const [what, body, count] of cases) {
    for (const framing of ['line', 'framed']) {
      const chunks = inChunks(framedAs(framing, body, count), 64 * 1024);
      const readers = {
        ours: () => readAll(MessageReader, chunks),
        parse: () => parseAll(body, count),
        ...(framing === 'framed' ? { vscode: () => readWithVscode(vscode, chunks, count) } : {}),
      };
      const ms = await timesInTurn(readers, rounds, count);
      const rate = (name) => (ms[name] ? `${round((body.length * count) / MB / (ms[name] / 1000))} MB/s` : '-');
      rates.push([`${what}, ${framing}`, rate('ours'), rate('parse'), rate('vscode')]);
      const isLarge = body.length >= 8 * MB;
      if (isLarge) limits.push(compared(`${what}, ${framing}`, ms.ours / count, ms.parse / count, 'ms', TIME_LIMIT));
    }
  }
  printTable(
    `Frames: the reader alone, ${rounds} rounds in alternation, medians`,
    ['', 'ours', 'JSON.parse', 'vscode-jsonrpc'],
    rates,
  );
  return printCompared('Frames: the time per message, next to JSON.parse', limits);
}

async function benchPipe(rounds) {
  const body = message(8 * MB);
  const rows = [];
  for (const framing of ['line', 'framed']) {
    const server = startLineProcess(SERVER, ['--stdio'], { MCP_LINE_MODE: '1' });
    const bytes = framedAs(framing, body, 1);
    const readers = {
      ours: async () => {
        server.child.stdin.write(bytes);
        await once(server.child.stdout, 'data');
        return 1;
      },
      parse: () => parseAll(body, 1),
    };
    const ms = await timesInTurn(readers, rounds * 3, 1);
    rows.push(compared(`8 MB request, ${framing}`, ms.ours, ms.parse, 'ms', TIME_LIMIT));
    await server.kill();
  }
  return printCompared('Frames: through a pipe to the built server and back, next to JSON.parse', rows);
}

/** The median time of each reader of `count` messages. */
async function timesInTurn(readers, rounds, count) {
  const ms = Object.fromEntries(Object.keys(readers).map((name) => [name, []]));
  for (let turn = 0; turn <= rounds; turn += 1) {
    for (const [name, read] of Object.entries(readers)) {
      const startedAt = performance.now();
      const found = await read();
      const took = performance.now() - startedAt;
      if (found !== count) throw new Error(`${name} read ${found} of ${count} messages`);
      // The first turn warms up.
      if (turn > 0) ms[name].push(took);
    }
  }
  return Object.fromEntries(Object.entries(ms).map(([name, times]) => [name, median(times)]));
}

/** The reader, bundled without the rest of the program. */
async function loadReader() {
  const folder = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-'));
  try {
    const file = join(folder, 'message-reader.mjs');
    const input = fileURLToPath(new URL('../src/adapters/inbound/stdio/message-reader.ts', import.meta.url));
    const bundle = await rolldown({ input, platform: 'node', logLevel: 'warn' });
    await bundle.write({ file, format: 'esm' });
    await bundle.close();
    return (await import(pathToFileURL(file))).MessageReader;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A call of an unknown tool, which the server refuses after reading it. */
function message(bytes) {
  const request = (query) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'unknown', arguments: { query } },
  });
  const around = Buffer.byteLength(JSON.stringify(request('')));
  return Buffer.from(JSON.stringify(request('what is it? '.repeat(Math.ceil(bytes / 12)).slice(0, bytes - around))));
}

function framedAs(framing, body, count) {
  const parts =
    framing === 'line' ? [body, Buffer.from('\n')] : [Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body];
  return Buffer.concat(Array.from({ length: count }, () => parts).flat());
}

function inChunks(bytes, size) {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

function readAll(MessageReader, chunks) {
  let found = 0;
  const reader = new MessageReader(({ kind }) => {
    if (kind === 'message') found += 1;
  });
  for (const chunk of chunks) reader.push(chunk);
  return found;
}

function parseAll(body, count) {
  let found = 0;
  while (found < count) found += JSON.parse(body.toString('utf8')).id;
  return found;
}

function readWithVscode({ StreamMessageReader }, chunks, count) {
  return new Promise((resolve, reject) => {
    const stream = new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER });
    const reader = new StreamMessageReader(stream);
    let found = 0;
    reader.onError(reject);
    reader.listen(() => {
      found += 1;
      if (found === count) resolve(found);
    });
    for (const chunk of chunks) stream.write(chunk);
  });
}
