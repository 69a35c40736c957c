// Bytes to messages: our reader beside JSON.parse of the same bytes, and, for frames, vscode-jsonrpc's reader.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import * as vscode from 'vscode-jsonrpc/node';
import { median, printTable, round } from './lib/figures.js';

const MB = 1024 * 1024;

export async function benchFrames(rounds) {
  const MessageReader = await loadReader();
  const cases = [
    ['200 B messages', message(200), Math.floor((16 * MB) / 200), 64 * 1024],
    ['16 MB messages', message(16 * MB), 2, 8 * 1024],
  ];
  const rows = [];
  for (const [what, body, count, chunkBytes] of cases) {
    for (const framing of ['line', 'framed']) {
      const chunks = inChunks(framedAs(framing, body, count), chunkBytes);
      const readers = {
        ours: () => readAll(MessageReader, chunks),
        parse: () => parseAll(body, count),
        ...(framing === 'framed' ? { vscode: () => readWithVscode(vscode, chunks, count) } : {}),
      };
      const ms = Object.fromEntries(Object.keys(readers).map((name) => [name, []]));
      for (let turn = 0; turn <= rounds; turn += 1) {
        for (const [name, read] of Object.entries(readers)) {
          const startedAt = performance.now();
          const found = await read();
          const took = performance.now() - startedAt;
          if (found !== count) throw new Error(`${name} found ${found} of ${count} messages`);
          // The first turn warms up.
          if (turn > 0) ms[name].push(took);
        }
      }
      const rate = (name) => (ms[name] ? `${round((body.length * count) / MB / (median(ms[name]) / 1000))} MB/s` : '-');
      rows.push([`${what}, ${framing}`, rate('ours'), rate('parse'), rate('vscode')]);
    }
  }
  printTable(
    `Frames: bytes to messages, ${rounds} rounds in turn, medians`,
    ['', 'ours', 'JSON.parse', 'vscode-jsonrpc'],
    rows,
  );
  return true;
}

/** The reader as it ships, without the program around it. */
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

/** A request of so many bytes. */
function message(bytes) {
  const request = (query) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'answer', arguments: { query } },
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
