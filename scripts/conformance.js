// Runs the official conformance suite against the built program (`shipped`), and against a build for tests that has the
// tools of the suite too (`fixtures`). The suite uses HTTP and requires Node.js 22: it is installed into a temporary folder,
// together with Node.js 22 if this one is older. test/conformance/*.yml lists what does not apply to this server.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import crossSpawn from 'cross-spawn';
import { rolldown } from 'rolldown';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const NODE = 'node@22';
const isNewEnough = Number.parseInt(process.versions.node, 10) >= 22;
const root = fileURLToPath(new URL('..', import.meta.url));

/** The runs of one server. The scenario of the headers is in the set of no revision, so it is run separately. */
const runsOf = (kind) => [
  ['2025-06-18', ['--suite', 'active', '--spec-version', '2025-06-18', ...expected(kind, '2025-06-18')]],
  ['2025-11-25', ['--requirements', '2025-11-25', ...expected(kind, '2025-11-25')]],
  ['2026-07-28', ['--requirements', '2026-07-28', ...expected(kind, '2026-07-28')]],
  ['headers', ['--scenario', 'http-header-validation', '--spec-version', '2026-07-28']],
];

const suite = install();
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

/** Installs the suite once per machine, outside of the project, which works without it. */
function install() {
  const folder = path.join(tmpdir(), 'mcp-conformance-0.2.0-alpha.12-node22');
  const require = createRequire(path.join(folder, 'package.json'));
  const entry = path.join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const node = isNewEnough ? process.execPath : path.join(folder, 'node_modules/node/bin/node');
  if (!existsSync(entry) || !existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
    const npm = crossSpawn.sync('npm', ['install', '--no-audit', '--no-fund', SUITE, ...(isNewEnough ? [] : [NODE])], {
      cwd: folder,
      stdio: 'inherit',
    });
    if (npm.status !== 0) throw new Error(`npm could not install ${SUITE} and ${NODE}`);
  }
  return { entry: require.resolve(entry), node };
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
  const child = spawn(suite.node, [suite.entry, ...args], { cwd: scratch });
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
