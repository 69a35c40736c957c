import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../support/mcp-process.ts';
import { newFolder } from './files.ts';
import { ROOT, serve, textOf } from './serve.ts';

const MESSAGE =
  'A file of this program is missing: the program was updated while it ran, or its installation is incomplete. Restart it; if that does not help, install it again.';
const QUESTION = { query: 'What does HTTP 404 mean?' };

/** What the build appends to the name of a chunk. */
const HASH = /-[\w-]{8}\.js$/;

/** A copy of the built program, of which a file can be removed and restored while it runs. */
function newProgram() {
  const folder = path.join(newFolder(), 'build');
  cpSync(path.join(ROOT, 'build'), folder, { recursive: true });
  const chunks = path.join(folder, 'chunks');
  const files = readdirSync(chunks);
  /** The chunk with this name, or that exports this: the bundler chooses the names of chunks. */
  const chunkOf = (exported: string) => {
    const exports = (file: string) =>
      file.startsWith(exported) || readFileSync(path.join(chunks, file), 'utf8').includes(`exports.${exported}=`);
    return path.join(chunks, files.find(exports) ?? exported);
  };
  return {
    program: path.join(folder, 'index.js'),
    /** Puts another version in place of this one, as `npm install -g` does. */
    update: () => {
      rmSync(folder, { recursive: true });
      mkdirSync(chunks, { recursive: true });
      for (const file of files)
        writeFileSync(path.join(chunks, file.replace(HASH, '-00000000.js')), "throw new Error('of another version');");
    },
    /** Removes a chunk, and returns what restores it. */
    remove: (exported: string) => {
      const file = chunkOf(exported);
      renameSync(file, `${file}.old`);
      return () => renameSync(`${file}.old`, file);
    },
  };
}

describe('a file that is missing after an update', () => {
  test('makes a call fail, but not the process, and the next call tries again', async () => {
    const { program, remove } = newProgram();
    const restore = remove('createContainer');
    const server = serve({ program, args: ['--stdio', '--offline'] });
    await server.initialize();
    expect(await server.callTool('answer', QUESTION)).toMatchObject({ error: { code: -32603, message: MESSAGE } });
    expect(await server.request('ping')).toMatchObject({ result: {} });
    restore();
    expect(textOf(await server.callTool('answer', QUESTION))).toContain('404');
    await expect
      .poll(() => server.stderr())
      .toMatch(/^\S+ \S+ ERROR internal error in tools\/call: Error: Cannot find module/);
  });

  test('makes a check fail, if it reads texts', async () => {
    const { program, remove } = newProgram();
    remove('text-worker');
    expect(await runCli(['check', path.join(ROOT, 'README.md')], { program })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(MESSAGE),
    });
  });

  test('of another version is not loaded by a process of this one', async () => {
    const { program, update } = newProgram();
    const server = serve({ program, args: ['--stdio', '--offline'] });
    await server.initialize();
    update();
    expect(await server.callTool('answer', QUESTION)).toMatchObject({ error: { code: -32603, message: MESSAGE } });
    expect((await server.request('tools/list')).result?.tools).toHaveLength(3);
  });

  test('is reported by a command', async () => {
    const { program, remove } = newProgram();
    remove('runCommand');
    expect(await runCli(['ask', '--offline', QUESTION.query], { program })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `openai-responses-mcp: ${MESSAGE}\n`,
    });
  });
});
