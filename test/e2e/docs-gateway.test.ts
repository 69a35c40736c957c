import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { posixDescribe } from '../support/platform.ts';
import { newFolder } from './files.ts';
import { BUILT_PROGRAM, ROOT } from './serve.ts';

const guide = (name: string) => readFileSync(path.join(ROOT, 'docs', name), 'utf8');
const GUIDE = guide('gateway.md');
/** What `npx` would download. */
const EVERYTHING = path.join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

posixDescribe('shell')('the commands of docs/gateway.md', () => {
  test('One gateway in place of ten servers', async () => {
    const steps = stepsOf('## One gateway in place of ten servers');
    expect(steps).toHaveLength(6);
    await followSteps(steps);
  });

  test('In the terminal', async () => {
    const steps = stepsOf('### In the terminal');
    expect(steps).toHaveLength(3);
    await followSteps(steps);
  });

  test('Over HTTP', async ({ skip }) => {
    skip(!isInstalled('curl'), 'curl is not installed');
    const steps = stepsOf('### Over HTTP');
    expect(steps).toHaveLength(5);
    await followSteps([...stepsOf('### In the terminal').slice(0, 1), ...steps]);
  });
});

posixDescribe('shell')('the commands of docs/team.md', () => {
  test('Example', async ({ skip }) => {
    skip(!isInstalled('curl'), 'curl is not installed');
    const steps = stepsOf('## Example', guide('team.md'));
    expect(steps).toHaveLength(4);
    await followSteps(steps);
  });

  test('From an empty folder to two persons', async ({ skip }) => {
    skip(!isInstalled('curl') || !isInstalled('openssl'), 'curl or openssl is not installed');
    const steps = stepsOf('### From an empty folder to two persons', guide('team.md'));
    expect(steps).toHaveLength(2);
    await followSteps(steps);
  });
});

/** A command of the guide, and what it says about its output. */
interface Step {
  readonly command: string;
  readonly text?: string;
  readonly json?: unknown;
}

/** The commands of a section (its `sh` blocks), each with the output that follows it; YAML is no output. */
function stepsOf(heading: string, text = GUIDE): readonly Step[] {
  const blocks = [...sectionOf(heading, text).matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm)];
  const steps: Step[] = [];
  let isOutput = false;
  for (const [, language, content = ''] of blocks) {
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ command: content });
    else if (isOutput && language !== 'yaml' && last !== undefined) {
      steps[steps.length - 1] = {
        ...last,
        ...(language === 'json' ? { json: JSON.parse(content, toMatcher) } : { text: content }),
      };
    }
    isOutput = language === 'sh';
  }
  return steps;
}

/** Runs the commands in a new folder, as a user would, with the built program and without the network. */
async function followSteps(steps: readonly Step[]): Promise<void> {
  const folder = newFolder();
  const cwd = path.join(folder, 'project');
  mkdirSync(cwd);
  addCommand(folder, 'openai-responses-mcp', `exec "${process.execPath}" "${BUILT_PROGRAM}" "$@"`);
  addCommand(
    folder,
    'npx',
    `[ "$*" = "-y @modelcontextprotocol/server-everything" ] && exec "${process.execPath}" "${EVERYTHING}"`,
  );
  for (const name of ['claude', 'codex']) addCommand(folder, name, CLIENT);
  const port = await freePort();
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, MCP_HTTP_LISTEN: `127.0.0.1:${port}` };
  for (const { command, text, json } of steps) {
    const script = command.replaceAll('127.0.0.1:3917', `127.0.0.1:${port}`);
    if (/ --http /.test(script)) {
      await startInBackground(script, { cwd, env });
      continue;
    }
    const run = async () =>
      (await promisify(execFile)('bash', ['--norc', '-euc', script], { cwd, env, timeout: 150_000 })).stdout;
    if (/^curl (?!.* -d )/s.test(script)) {
      // A person looks again while the server starts.
      await expect.poll(async () => JSON.parse(await run()), { message: command }).toMatchObject(Object(json));
      continue;
    }
    const stdout = await run();
    if (text !== undefined) expect(stdout).toMatch(toPattern(text));
    if (json !== undefined) expect({ answer: JSON.parse(stdout) }, command).toMatchObject({ answer: json });
  }
}

/**
 * A client that was given a gateway, and lists its tools: of the command after `--`, or of the URL at the end. It lists
 * them again until the server behind the gateway has started.
 */
const CLIENT = `for last; do :; done
list='{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
case "$last" in
http*) ;;
*) while [ "$1" != -- ]; do shift; done; shift; cd / ;;
esac
ask() {
  case "$last" in
  http*) curl -s "$last" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d "$list" ;;
  *) echo "$list" | "$@" ;;
  esac
}
until ask "$@" | grep -q '"everything__echo"'; do sleep 0.2; done`;

function addCommand(folder: string, name: string, script: string): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(folder, name), 0o755);
}

/** Resolves when the server listens; it ends with the test, together with its servers. */
async function startInBackground(
  script: string,
  options: { readonly cwd: string; readonly env: object },
): Promise<void> {
  const child = spawn('bash', ['--norc', '-euc', script.replace(/^(?=openai-responses-mcp --http)/m, 'exec ')], {
    ...options,
    env: { ...options.env },
    stdio: 'pipe',
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });
  let stderr = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (stderr.includes('serving MCP at')) resolve();
    });
    void exited.then(() => reject(new Error(`The server did not start: ${stderr}`)));
  });
}

/** A line `...` is any number of lines. */
function toPattern(text: string): RegExp {
  const lines = text.trimEnd().split('\n');
  return new RegExp(`^${lines.map((line) => (line === '...' ? '(?:.*\n)*' : `${literally(line)}\n`)).join('')}$`);
}

/** In the values of JSON, `...` is any text. */
function toMatcher(_: string, value: unknown): unknown {
  if (typeof value !== 'string' || !/\.\.\.|:3917/.test(value)) return value;
  // The program of the test has another port.
  const text = value.replace(':3917', ':...');
  return expect.stringMatching(new RegExp(`^${text.split('...').map(literally).join('.*')}$`));
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** From a heading to the next one of the same level or a higher one. */
function sectionOf(heading: string, text: string): string {
  const [level = ''] = heading.split(' ');
  const [, ...rest] = text.split(`\n${heading}\n`);
  expect(rest, heading).toHaveLength(1);
  return (rest[0] ?? '').split(new RegExp(`^#{1,${level.length}} `, 'm'))[0] ?? '';
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--help'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
