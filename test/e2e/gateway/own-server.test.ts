import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../support/mcp-process.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { newFolder } from '../files.ts';
import { ROOT } from '../serve.ts';

/** Records each start in a file, and starts the program of its arguments, but not without end if that program starts itself. */
const RECORDER = `
import { appendFileSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
const [file, ...args] = process.argv.slice(2);
appendFileSync(file, 'started\\n');
if (readFileSync(file, 'utf8').split('\\n').length > 6) process.exit(1);
spawn(process.execPath, args, { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1));
`;

/** A home folder, an entry that runs the program as a server, and how often that was started. */
function newHome() {
  const home = newFolder();
  const recorder = path.join(home, 'recorder.mjs');
  const starts = path.join(home, 'starts');
  writeFileSync(recorder, RECORDER);
  // A folder of the program is known by its name.
  const folder = path.join(home, 'openai-responses-mcp');
  symlinkSync(ROOT, folder, 'junction');
  const program = path.join(folder, 'build', 'index.js');
  const entry = { command: process.execPath, args: [recorder, starts, program, '--stdio'] };
  const write = (file: string, content: object) => {
    mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    // JSON is YAML.
    writeFileSync(path.join(home, file), JSON.stringify(content));
    return path.join(home, file);
  };
  const started = () => (existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n').length : 0);
  const run = (...args: string[]) => runCli(args, { env: { [HOME_VARIABLE]: home, TOKEN: 'x' } });
  return { entry, write, started, run };
}

const CONFIG = '.config/openai-responses-mcp/config.yaml';

test('the program does not start itself from the file of a client in which it is a server', async () => {
  const { entry, write, started, run } = newHome();
  const file = write('mcp.json', { mcpServers: { 'openai-responses': entry } });
  write(CONFIG, { gateway: { servers_file: file, expose: true } });
  const { stdout, stderr } = await run('tools');
  expect(started()).toBe(0);
  expect(stdout).toMatch(/^There is no server that can be used in .*mcp\.json/);
  expect(stderr).toMatch(/^warning: mcpServers\.openai-responses: .*this server is left out \(in .*mcp\.json\)\n$/);
});

test('as one of its own `servers`, the program serves answers, and starts nothing', async () => {
  const { entry, write, started, run } = newHome();
  // The variable exists only in the first process.
  const other = { name: 'other', command: 'no-such-command-a1b2', envs: { TOKEN: `\${TOKEN}` } };
  const me = { name: 'me', ...entry, timeout: 20_000 };
  write(CONFIG, {
    servers: [me, other],
    gateway: { expose: true },
    grounding: { tools: { other: 'all' } },
    llm: { adapter: 'offline' },
  });
  const { stdout } = await run('tools');
  expect(stdout).toMatch(
    /^me: available \(stdio\)\n {2}answer: .*\n {2}answer_detailed: .*\n {2}answer_quick: .*\nother: /,
  );
  expect(started()).toBe(1);
  const answered = await run('call', 'me', 'answer_quick', '{"query": "What does HTTP 404 mean?"}');
  expect(answered.stdout).toContain('404');
  expect(started()).toBe(2);
});
