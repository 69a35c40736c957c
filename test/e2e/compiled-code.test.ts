import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../support/mcp-process.ts';
import { newFolder } from './files.ts';
import { ROOT } from './serve.ts';

const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
})}\n`;

/** A copy of the built program, without compiled code. */
function newProgram() {
  const folder = newFolder();
  const file = (name: string) => path.join(folder, name);
  cpSync(path.join(ROOT, 'build'), folder, { recursive: true, filter: (name) => !name.includes('.cache') });
  const main = readFileSync(file('main.js'), 'utf8');
  return {
    main,
    writeMain: (text: string) => writeFileSync(file('main.js'), text),
    cache: file(`main.js.${process.versions.node}-${process.arch}.cache`),
    caches: () => readdirSync(folder).filter((name) => name.includes('.cache')),
    /** One session of a stdio server; returns its `serverInfo`. */
    serve: async () => {
      const result = await runCli(['--stdio'], { program: file('index.js'), stdin: INITIALIZE });
      expect(result).toMatchObject({ code: 0, stderr: '' });
      return JSON.parse(result.stdout).result.serverInfo;
    },
    run: (...args: readonly string[]) => runCli(args, { program: file('index.js') }),
  };
}

describe('the compiled code of main.js', () => {
  test('is kept by the first stdio server, and used by the next ones', async () => {
    const { main, writeMain, cache, caches, serve } = newProgram();
    const { version } = await newProgram().serve();
    const other = version.replaceAll(/\d/g, '7');
    // V8 does not compare the text with its code, so that the code of another text can be recognized.
    writeMain(main.replaceAll(version, other));
    expect(await serve()).toMatchObject({ version: other });
    writeMain(main);
    writeFileSync(cache, Buffer.concat([Buffer.from(main), readFileSync(cache).subarray(main.length)]));
    const { mtimeMs } = statSync(cache);
    expect(await serve()).toMatchObject({ version: other });
    expect(statSync(cache)).toMatchObject({ mtimeMs });
    expect(caches()).toEqual([path.basename(cache)]);
  });

  test('is not that of another text of the same length', async () => {
    const { main, writeMain, serve } = newProgram();
    const { version } = await newProgram().serve();
    writeMain(main.replaceAll(version, version.replaceAll(/\d/g, '7')));
    await serve();
    writeMain(main);
    for (let time = 0; time < 2; time += 1) expect(await serve()).toMatchObject({ version });
  });

  test('is kept by nothing else, whose code is not that of the start', async () => {
    const { caches, run } = newProgram();
    expect(await run('--version')).toMatchObject({ code: 0 });
    expect(caches()).toEqual([]);
  });

  test.each([
    ['is empty', () => Buffer.alloc(0)],
    ['is not complete', (saved: Buffer) => saved.subarray(0, -1)],
    ['has no code', (saved: Buffer, length: number) => saved.subarray(0, length)],
    ['is damaged', (saved: Buffer) => Buffer.from(saved).fill(0, saved.length - 8192, saved.length - 4096)],
  ])('is replaced if it %s', async (_, damaged) => {
    const { main, cache, caches, serve } = newProgram();
    await serve();
    const saved = readFileSync(cache);
    writeFileSync(cache, damaged(saved, main.length));
    expect(await serve()).toMatchObject({ name: 'openai-responses-mcp' });
    const size = statSync(cache).size - main.length;
    expect(size / (saved.length - main.length)).toBeCloseTo(1, 1);
    expect(caches()).toHaveLength(1);
  });

  test('is not needed where it cannot be kept', async () => {
    const { cache, caches, serve } = newProgram();
    mkdirSync(cache);
    expect(await serve()).toMatchObject({ name: 'openai-responses-mcp' });
    expect(caches()).toEqual([path.basename(cache)]);
  });
});
