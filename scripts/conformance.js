// Runs the official conformance suite against the built program (`shipped`), and against a build for tests that has the
// tools of the suite too (`fixtures`). The suite uses HTTP and requires Node.js 22: npm downloads both, and runs the suite.
// test/conformance/*.yml lists what does not apply to this server.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import crossSpawn from 'cross-spawn';
import { rolldown } from 'rolldown';

const SUITE = ['--package=@modelcontextprotocol/conformance@0.2.0-alpha.12', '--package=node@22'];
const root = fileURLToPath(new URL('..', import.meta.url));

/** The runs of one server. The scenario of the headers runs separately, because no revision's set has it. */
const runsOf = (kind) => [
  ['2025-06-18', ['--suite', 'active', '--spec-version', '2025-06-18', ...expected(kind, '2025-06-18')]],
  ['2025-11-25', ['--requirements', '2025-11-25', ...expected(kind, '2025-11-25')]],
  ['2026-07-28', ['--requirements', '2026-07-28', ...expected(kind, '2026-07-28')]],
  ['headers', ['--scenario', 'http-header-validation', '--spec-version', '2026-07-28']],
];

const scratch = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-conformance-'));
const failed = [];
try {
  const fixtures = await bundleFixtures();
  for (const [kind, program] of [
    ['shipped', [path.join(root, 'build/index.js'), '--http=127.0.0.1:0', '--offline']],
    ['fixtures', [fixtures]],
  ]) {
    const server = await startServer(program);
    for (const [name, args] of runsOf(kind)) {
      const { status, output } = await run(['server', '--url', server.url, ...args]);
      console.log(`\n${kind} ${name}: ${status === 0 ? 'passed' : 'FAILED'}`);
      console.log(status === 0 ? summaryOf(output) : output);
      if (status !== 0) failed.push(`${kind} ${name}`);
    }
    server.stop();
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(failed.length === 0 ? '\nAll runs passed.' : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

function expected(kind, revision) {
  return ['--expected-failures', path.join(root, `test/conformance/${kind}-${revision}.yml`)];
}

async function bundleFixtures() {
  const bundle = await rolldown({
    cwd: root,
    input: { fixtures: 'test/conformance/fixtures-server.ts' },
    platform: 'node',
    resolve: { mainFields: ['es2015', 'module', 'main'] },
    logLevel: 'warn',
  });
  await bundle.write({ dir: scratch, format: 'esm', entryFileNames: '[name].mjs' });
  return path.join(scratch, 'fixtures.mjs');
}

/** The server under test uses the same Node.js as this script. */
async function startServer(program) {
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'pipe'] });
  const url = await new Promise((resolve, reject) => {
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
      const [, found] = /serving MCP at (\S+)/.exec(stderr) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The server exited with ${code}: ${stderr}`)));
  });
  return { url, stop: () => child.kill() };
}

function run(args) {
  const child = crossSpawn('npm', ['exec', '--yes', ...SUITE, '--', 'conformance', ...args], { cwd: scratch });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}

function summaryOf(output) {
  const lines = output.split('\n').filter((line) => /passed|failed|total|baseline|expected/i.test(line));
  return lines.slice(-6).join('\n');
}
