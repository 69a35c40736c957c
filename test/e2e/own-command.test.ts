import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readOwnCommand } from '../../src/adapters/outbound/config/own-command.ts';
import { posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { BUILT_PROGRAM, serve } from './serve.ts';

const REMOTE = 'servers: [{name: notes, command: missing-program}]\ngateway: {lock: tools.lock}\n';

// S9
test('an advised command has absolute paths, whatever was typed', async () => {
  const config = newFile('my config.yaml', REMOTE);
  const cwd = path.dirname(config);
  const program = path.relative(cwd, BUILT_PROGRAM);
  const { code, stderr } = await runCli(['tools', '--config', 'my config.yaml'], { program, cwd });
  expect(code).toBe(1);
  expect(stderr).toContain(`write them with: node ${BUILT_PROGRAM} tools --lock --config '${config}' (in `);
  const { stderr: usage } = await runCli(['login'], { program, cwd });
  expect(usage).toBe(
    `login needs a server: node ${BUILT_PROGRAM} login <server>\nTry node ${BUILT_PROGRAM} login --help\n`,
  );
});

test('a problem at the start of a server advises a command with absolute paths', async () => {
  const config = newFile('config.yaml', REMOTE);
  const server = serve({ args: ['--stdio', '--config', config] });
  await server.exited;
  expect(server.stderr()).toContain(`write them with: node ${BUILT_PROGRAM} tools --lock --config ${config}`);
});

posixTest('links')('the name is enough if PATH leads to the program, but not if only npm has it there', () => {
  const folder = newFolder();
  const link = (...names: readonly string[]) => {
    const bin = path.join(folder, ...names);
    mkdirSync(bin, { recursive: true });
    symlinkSync(BUILT_PROGRAM, path.join(bin, 'openai-responses-mcp'));
    return bin;
  };
  const [own, ofNpm, ofNpx] = [link('bin'), link('node_modules', '.bin'), link('_npx', '1', 'node_modules', '.bin')];
  const programOf = (bin: string, PATH = `/nowhere:${bin}`) =>
    readOwnCommand(path.join(bin, 'openai-responses-mcp'), {}, { PATH }).program;
  expect(programOf(own)).toBe('openai-responses-mcp');
  expect(programOf(own, '/nowhere')).toBe(`node ${own}/openai-responses-mcp`);
  expect(programOf(ofNpm)).toBe(`node ${ofNpm}/openai-responses-mcp`);
  expect(programOf(ofNpx)).toBe('npx -y openai-responses-mcp');
  expect(programOf(ofNpx, own)).toBe('openai-responses-mcp');
});

test.each([
  [{}, ''],
  [{ '--config': '/srv/g.yaml', '--debug': '' }, ' --config /srv/g.yaml'],
  [{ '--servers': "/my file's.json", '--config': '/g.yaml' }, " --config /g.yaml --servers '/my file'\\''s.json'"],
])('an advised command repeats of %j: %j', (typed, options) => {
  expect(readOwnCommand(undefined, typed, {})).toEqual({ program: 'openai-responses-mcp', options });
});
