import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import spawn from 'cross-spawn';
import { rolldown } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { HOME_VARIABLE } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { ROOT, serve } from './serve.ts';

const run = promisify(execFile);

/** On Windows, npm is a script, which Node.js starts only through a shell. */
function npm(args: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): string {
  const { status, stdout, stderr } = spawn.sync('npm', [...args], { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`);
  return stdout;
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

const packageJson = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;

/** Spec 15.1 and 15.2, literally. */
const METADATA = {
  name: 'openai-responses-mcp',
  version: expect.stringMatching(/^0\.9\.\d+$/),
  description: 'Lightweight MCP server (Responses API core). OpenAI integration + web_search.',
  type: 'module',
  bin: { 'openai-responses-mcp': 'build/index.js' },
  files: ['build', 'config/config.yaml.example', 'config/policy.md.example', 'README.md', 'LICENSE'],
  engines: { node: '>=20' },
  license: 'MIT',
  repository: { type: 'git', url: 'git+https://github.com/uchimanajet7/openai-responses-mcp.git' },
  homepage: 'https://github.com/uchimanajet7/openai-responses-mcp#readme',
  bugs: { url: 'https://github.com/uchimanajet7/openai-responses-mcp/issues' },
};

test('the metadata name the package, its command and its license', () => {
  const { name, version, description, type, bin, files, engines, license, repository, homepage, bugs } = packageJson;
  expect({ name, version, description, type, bin, files, engines, license, repository, homepage, bugs }).toEqual(
    METADATA,
  );
  expect(packageJson.scripts).toMatchObject({ prepublishOnly: 'npm run build' });
  expect(packageJson).not.toHaveProperty('dependencies');
  expect(packageJson).not.toHaveProperty('optionalDependencies');
  expect(packageJson).not.toHaveProperty('peerDependencies');
});

test('the start does not load `node:crypto`, nor another large module of Node.js', () => {
  const required: string[] = [];
  const code = readFileSync(path.join(ROOT, 'build', 'main.js'), 'utf8');
  new Visitor({
    CallExpression: ({ callee, arguments: [what] }) => {
      if (callee.type === 'Identifier' && callee.name === 'require' && what?.type === 'Literal')
        required.push(String(what.value));
      if (callee.type === 'Identifier' && callee.name === 'require' && what?.type === 'TemplateLiteral')
        required.push(what.quasis.map(({ value }) => value.cooked).join());
    },
  }).visit(parseSync('main.js', code).program);
  const modules = required.filter((name) => name.startsWith('node:'));
  const light = ['node:buffer', 'node:fs', 'node:fs/promises', 'node:os', 'node:path', 'node:url', 'node:util'];
  expect(modules.sort()).toEqual(light);
});

test('the build contains the recordings under version control, and no private ones', ({ skip }) => {
  skip(!existsSync(path.join(ROOT, '.git')), 'this is not a git checkout');
  const listed = execFileSync('git', ['ls-files', 'recordings'], { cwd: ROOT, encoding: 'utf8' });
  const tracked = listed
    .trim()
    .split('\n')
    .map((file) => path.basename(file));
  expect(readdirSync(path.join(ROOT, 'build', 'recordings')).toSorted()).toEqual(tracked.toSorted());
});

describe('the entry point', () => {
  const entryPoint = path.join(ROOT, 'build', 'index.js');

  test('contains only syntax that old versions of Node.js can parse', () => {
    expect(readFileSync(entryPoint, 'utf8')).not.toMatch(/\b(?:const|let|class|async|await|import)\b|=>|`|\?\?|\?\./);
  });

  test('reports in one line that Node.js is too old', async () => {
    const preload = newFile(
      'node-18.cjs',
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } });`,
    );
    const result = await runCli(['--stdio'], { env: { NODE_OPTIONS: `--require=${preload}` } });
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toMatch(
      /^openai-responses-mcp: version \S+ needs Node\.js 20 or later; this is 18\.20\.8\.[^\n]*\n$/,
    );
  });

  test('reports in one line that a file is missing', async () => {
    const folder = newFolder();
    copyFileSync(entryPoint, path.join(folder, 'index.js'));
    expect(await runCli(['--version'], { program: path.join(folder, 'index.js') })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: 'openai-responses-mcp: a file of this program is missing. Install it again.\n',
    });
  });
});

test('no chunk is needed until the first question: each would slow down the start', async () => {
  const folder = newFolder();
  for (const name of ['index.js', 'main.js', 'package.json'])
    copyFileSync(path.join(ROOT, 'build', name), path.join(folder, name));
  const server = serve({ program: path.join(folder, 'index.js') });
  await server.initialize();
  expect((await server.request('tools/list')).result?.tools).toHaveLength(3);
});

describe('the packed package, installed into an empty folder', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-package-'));
  const installed = path.join(folder, 'user', 'node_modules', 'openai-responses-mcp');
  let packed: Packed;

  beforeAll(() => {
    const user = path.join(folder, 'user');
    mkdirSync(user);
    const env = { PATH: process.env.PATH, [HOME_VARIABLE]: folder, npm_config_cache: path.join(folder, 'cache') };
    const quiet = ['--ignore-scripts', '--no-update-notifier', '--loglevel=error'];
    const stdout = npm(['pack', '--json', '--pack-destination', folder, ...quiet], { cwd: ROOT, env });
    [packed] = JSON.parse(stdout) as [Packed];
    const tarball = path.join(folder, packed.filename);
    npm(['install', '--offline', '--no-audit', '--no-fund', ...quiet, tarball], { cwd: user, env });
    return () => rmSync(folder, { recursive: true, force: true });
  });

  // S11
  test('weighs at most 950 kB', () => {
    expect(packed.size).toBeLessThanOrEqual(950_000);
    expect(packed.size).toBe(statSync(path.join(folder, packed.filename)).size);
  });

  test('contains the build, examples, README and license, and nothing else', () => {
    const files = packed.files.map((file) => file.path);
    const expected = ['LICENSE', 'README.md', 'config/config.yaml.example', 'config/policy.md.example', 'package.json'];
    // npm packs every README.*, whatever `files` contains.
    expect(files.filter((file) => !/^build\/|^README\.ja\.md$/.test(file)).toSorted()).toEqual(expected);
    expect(files).toContain('build/index.js');
    expect(files).toContain('build/THIRD_PARTY_LICENSES.txt');
    const recordings = files.filter((file) => file.startsWith('build/recordings/')).map((file) => path.basename(file));
    expect(recordings.toSorted()).toEqual(readdirSync(path.join(ROOT, 'build', 'recordings')).toSorted());
    for (const file of files) expect(file).not.toMatch(/\.(?:ts|map|tsbuildinfo)$|\btests?\b|fixture/);
  });

  test('installs no other package, and its bin prints its version', async () => {
    const modules = path.join(folder, 'user', 'node_modules');
    expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['openai-responses-mcp']);
    expect(existsSync(path.join(installed, 'node_modules'))).toBe(false);
    const { stdout } = await run(path.join(modules, '.bin', 'openai-responses-mcp'), ['--version'], {
      env: { PATH: process.env.PATH },
      shell: process.platform === 'win32',
    });
    expect(stdout).toBe(`${packageJson.version}\n`);
  });

  test('answers offline, also with its example configuration', async () => {
    const config = path.join(installed, 'config', 'config.yaml.example');
    const args = ['ask', '--offline', '--config', config, 'What does HTTP 404 mean?'];
    const asked = await runCli(args, { program: path.join(installed, 'build', 'index.js') });
    expect(asked).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^HTTP 404 means/) });
  });
});

test('contains the licenses and the bill of materials of what is bundled', async () => {
  const bundle = await rolldown({
    cwd: ROOT,
    input: { index: 'src/main.ts', worker: 'src/adapters/outbound/texts/text-worker.ts' },
    platform: 'node',
    resolve: { mainFields: ['es2015', 'module', 'main'] },
    transform: { define: { PACKAGE_VERSION: '"0.0.0"' } },
    logLevel: 'silent',
  });
  onTestFinished(() => bundle.close());
  const { output } = await bundle.generate({ format: 'cjs' });
  const files = output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []));
  const packages = new Set(files.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? ''));
  packages.delete('');
  expect([...packages]).toEqual(
    expect.arrayContaining(['openai', 'yaml', 'tsyringe', 'reflect-metadata', 'neverthrow']),
  );

  const licences = readFileSync(path.join(ROOT, 'build', 'THIRD_PARTY_LICENSES.txt'), 'utf8');
  const named = [...licences.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \([^)]+\)\n-+\n/gm)].map(([, name]) => name);
  expect(named).toEqual([...packages].toSorted());

  const billOfMaterials = JSON.parse(readFileSync(path.join(ROOT, 'build', 'sbom.cdx.json'), 'utf8'));
  expect(billOfMaterials).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: expect.stringMatching(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/),
    metadata: { component: { name: packageJson.name, version: packageJson.version } },
  });
  const listed = (billOfMaterials.components as { name: string }[]).map(({ name }) => name);
  expect(listed).toEqual(named);
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'node_modules', 'openai', 'package.json'), 'utf8'));
  expect(billOfMaterials.components).toContainEqual({
    type: 'library',
    name: 'openai',
    version,
    licenses: [{ expression: 'Apache-2.0' }],
    purl: `pkg:npm/openai@${version}`,
  });
});
