import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ofToolCallError } from '../../src/adapters/inbound/http/rest/rest-error.ts';
import { tokenRefusal } from '../../src/adapters/inbound/http/server/protected-resource.ts';
import { refusal } from '../../src/adapters/inbound/http/shared/refusal.ts';
import { ofQuotaError } from '../../src/adapters/inbound/http/shared/run-call.ts';
import { SERVER_TABLE } from '../../src/adapters/outbound/config/server-entry.ts';
import type { TokenError } from '../../src/application/ports/token-verifier.ts';
import type { ToolCallError } from '../../src/domain/gateway/tool-call-error.ts';
import type { QuotaError } from '../../src/domain/values/quota.ts';
import { FakeTokenVerifier } from '../support/fake-token-verifier.ts';
import { posixDescribe } from '../support/platform.ts';
import { newFolder } from './files.ts';
import { BUILT_PROGRAM, closedPort, ROOT } from './serve.ts';

const GUIDE = readFileSync(path.join(ROOT, 'docs', 'gateway.md'), 'utf8');
/** What `npx` would download. */
const EVERYTHING = path.join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

posixDescribe('shell')('the commands of docs/gateway.md', () => {
  test('In the terminal', async () => {
    const steps = stepsOf('### In the terminal');
    expect(steps).toHaveLength(3);
    await followSteps(steps);
  });

  test('A server of 30 lines', async () => {
    const steps = stepsOf('### A server of 30 lines');
    expect(steps).toHaveLength(1);
    await followSteps(steps);
  });

  test('Over HTTP', async ({ skip }) => {
    skip(!isInstalled('curl'), 'curl is not installed');
    const steps = stepsOf('### Over HTTP');
    expect(steps).toHaveLength(5);
    await followSteps([...stepsOf('### In the terminal').slice(0, 1), ...steps]);
  });

  test('A team', async ({ skip }) => {
    skip(!isInstalled('curl') || !isInstalled('openssl'), 'curl or openssl is not installed');
    const steps = stepsOf('## A team');
    expect(steps).toHaveLength(7);
    await followSteps(steps);
  });

  test('Over MCP', async ({ skip }) => {
    skip(!isInstalled('curl'), 'curl is not installed');
    const steps = stepsOf('## Over MCP');
    expect(steps).toHaveLength(2);
    await followSteps([...stepsOf('### In the terminal').slice(0, 1), ...steps]);
  });
});

test('the example server is as short as the guide says', () => {
  const lines = readFileSync(path.join(ROOT, 'examples', 'notes.mjs'), 'utf8')
    .trimEnd()
    .split('\n');
  expect(lines.length).toBeLessThanOrEqual(30);
});

test('the guide describes every key of a server, and no other', () => {
  const described = rowsOf('## Configuration').flatMap(([keys = '']) => wordsOf(keys));
  expect(described.toSorted()).toEqual(Object.keys(SERVER_TABLE).toSorted());
});

test('the guide lists every error of REST', () => {
  const listed = [...sectionOf('### Errors').matchAll(/^- (\d+) `(\w+)`: /gm)].map(
    ([, status, code]) => `${status} ${code}`,
  );
  const answered = [
    ...CALL_ERRORS.map(ofToolCallError),
    ...REFUSED.map((code) => refusal(code, 'x')),
    ...QUOTA_ERRORS.map(ofQuotaError),
    ...TOKEN_ERRORS.map((error) => tokenRefusal(error, OAUTH)),
  ];
  const errors = answered.map(({ status, code }) => `${status} ${code}`);
  expect(new Set(listed)).toEqual(new Set([...errors, '422 TOOL_EXECUTION_ERROR']));
});

test('every local link of the guide leads to a file and a heading that exist', () => {
  const links = [...GUIDE.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, file = '', anchor]) => {
    return { file: file === '' ? path.join(ROOT, 'docs', 'gateway.md') : path.join(ROOT, 'docs', file), anchor };
  });
  expect(links.length).toBeGreaterThan(10);
  const isBroken = ({ file, anchor }: (typeof links)[number]) =>
    !existsSync(file) || (anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor));
  expect(links.filter(isBroken)).toEqual([]);
});

/** One of each kind; the answers that a server can give differ in their code. */
const CALL_ERRORS: readonly ToolCallError[] = [
  { kind: 'invalid_input', errors: [] },
  { kind: 'unknown_server', server: 'a', known: [] },
  { kind: 'tool_changed', server: 'a', tool: 'b', change: 'new' },
  { kind: 'unknown_tool', server: 'a', tool: 'b', known: [] },
  { kind: 'not_available', server: 'a', state: 'failed' },
  { kind: 'overloaded', server: 'a', maxConcurrency: 1 },
  { kind: 'crashed', reason: 'x' },
  { kind: 'too_large', maxBytes: 1 },
  { kind: 'invalid_result', detail: 'x' },
  { kind: 'unauthorized', server: 'notes', status: 401 },
  { kind: 'login_required', server: 'notes' },
  { kind: 'shutting_down' },
  { kind: 'audit_unavailable' },
  { kind: 'timed_out', timeoutMs: 1 },
  ...[-32700, -32600, -32601, -32602, -32603].map((code) => ({ kind: 'json_rpc', code, message: 'x' }) as const),
];
const TOKEN_ERRORS: readonly TokenError[] = [
  { kind: 'invalid_token', problem: 'expired' },
  { kind: 'insufficient_scope' },
  { kind: 'issuer_unavailable', retryAfterMs: 1 },
];
const OAUTH = {
  issuer: 'https://auth.example.com',
  resource: 'https://mcp.example.com/mcp',
  scopes: [],
  verifier: new FakeTokenVerifier({}),
};

const QUOTA_ERRORS: readonly QuotaError[] = [
  { kind: 'quota_reached', unit: 'calls', limit: 1, endsAt: new Date(0), timeZone: 'UTC', retryAfterMs: 1 },
  { kind: 'quota_unknown' },
];
const REFUSED = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'OVERLOADED',
  'SHUTTING_DOWN',
] as const;

/** A command of the guide, and what it says about its output. */
interface Step {
  readonly command: string;
  readonly text?: string;
  readonly json?: unknown;
}

/** The commands of a section (its `sh` blocks), each with the output that follows it. */
function stepsOf(heading: string): readonly Step[] {
  const blocks = [...sectionOf(heading).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const steps: Step[] = [];
  let isOutput = false;
  for (const [, language, content = ''] of blocks) {
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ command: content });
    else if (isOutput && last !== undefined) {
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
  cpSync(path.join(ROOT, 'examples'), path.join(folder, 'examples'), { recursive: true });
  addCommand(folder, 'openai-responses-mcp', `exec "${process.execPath}" "${BUILT_PROGRAM}" "$@"`);
  addCommand(
    folder,
    'npx',
    `[ "$*" = "-y @modelcontextprotocol/server-everything" ] && exec "${process.execPath}" "${EVERYTHING}"`,
  );
  const port = await closedPort();
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, MCP_HTTP_LISTEN: `127.0.0.1:${port}` };
  for (const { command, text, json } of steps) {
    const script = command.replaceAll('127.0.0.1:3917', `127.0.0.1:${port}`);
    if (/ --http /.test(script)) {
      await startInBackground(script, { cwd: folder, env });
      continue;
    }
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder, env, timeout: 15_000 });
    if (text !== undefined) expect(stdout).toMatch(toPattern(text));
    if (json !== undefined) expect({ answer: JSON.parse(stdout) }, command).toMatchObject({ answer: json });
  }
}

function addCommand(folder: string, name: string, script: string): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(path.join(folder, name), 0o755);
}

/** Resolves when the server listens; it ends with the test, together with its servers. */
async function startInBackground(
  script: string,
  options: { readonly cwd: string; readonly env: object },
): Promise<void> {
  const child = spawn('bash', ['-euc', script.replace(/^(?=openai-responses-mcp)/m, 'exec ')], {
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
  if (typeof value !== 'string' || !value.includes('...')) return value;
  return expect.stringMatching(new RegExp(`^${value.split('...').map(literally).join('.*')}$`));
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** From a heading to the next one of the same level or a higher one. */
function sectionOf(heading: string): string {
  const [level = ''] = heading.split(' ');
  const [, ...rest] = GUIDE.split(`\n${heading}\n`);
  expect(rest, heading).toHaveLength(1);
  return (rest[0] ?? '').split(new RegExp(`^#{1,${level.length}} `, 'm'))[0] ?? '';
}

/** The cells of the first table of a section, without its head. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [table = ''] = /(?:^\|.*\n)+/m.exec(sectionOf(heading)) ?? [];
  const rows = table.trimEnd().split('\n').slice(2);
  expect(rows.length).toBeGreaterThan(0);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The code spans of a text. */
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

/** As GitHub makes them. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    return heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
  });
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--help'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
