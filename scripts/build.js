// Bundles src/main.ts into build/main.js, with chunks that are loaded when they are first needed, and adds the entry point
// build/index.js, the recordings of the package, and the licences and the bill of materials of the bundled packages.
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** The recordings in the package. */
const SHIPPED_RECORDINGS = [
  'answer-cut-history-of-the-web.sse',
  'answer-detailed-http2-http3.sse',
  'answer-http-404-en.sse',
  'answer-http-404-ja.sse',
  'answer-quick-capital-of-australia.sse',
  'answer-quick-latest-mcp-revision.sse',
  'answer-refused-lock-picking.sse',
  'answer-tokyo-weather-en.sse',
  'answer-tokyo-weather-ja.sse',
];

/** Copyright lines of packages whose licence file is only in their repository. */
const COPYRIGHTS = { '@redis/client': 'Copyright (c) 2022-2025, Redis, inc.' };

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** The entry point, in syntax that old versions of Node.js can parse. */
const ENTRY_POINT = `#!/usr/bin/env node
var node = process.versions.node;
if (parseInt(node, 10) >= 20) {
  try {
    require('./main.js');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    fail('a file of this program is missing. Install it again.');
  }
} else fail('version ${version} needs Node.js 20 or later; this is ' + node + '. Install a newer version.');

function fail(message) {
  console.error('openai-responses-mcp: ' + message);
  process.exitCode = 1;
}
`;

rmSync(`${root}build`, { recursive: true, force: true });

/** Everything that main.ts imports, directly or not, becomes one file, because each file costs time at the start. */
const start = new Set();
const findStart = {
  name: 'find-start',
  buildEnd() {
    const visit = (id) => {
      if (start.has(id)) return;
      start.add(id);
      this.getModuleInfo(id).importedIds.forEach(visit);
    };
    visit([...this.getModuleIds()].find((id) => posix(id) === posix(join(root, 'src/main.ts'))));
  },
};

const bundle = await rolldown({
  cwd: root,
  input: { main: 'src/main.ts' },
  platform: 'node',
  // Prefers the ES modules of packages: they need no wrappers, which cost time at the start.
  resolve: { mainFields: ['es2015', 'module', 'main'] },
  transform: { target: 'node20', define: { PACKAGE_VERSION: JSON.stringify(version) } },
  logLevel: 'warn',
  onLog(level, log, report) {
    // Such a module would be loaded at the start, although the code says that it is loaded later.
    report(log.code === 'INEFFECTIVE_DYNAMIC_IMPORT' ? 'error' : level, log);
  },
  plugins: [findStart],
});
const { output } = await bundle.write({
  dir: 'build',
  // CommonJS starts some milliseconds sooner than ES modules.
  format: 'cjs',
  // With a hash, a process whose files are replaced by another version finds its own chunks, or none.
  chunkFileNames: 'chunks/[name]-[hash].js',
  codeSplitting: { groups: [{ name: 'start', test: (id) => start.has(id) }] },
  // Keeps the names of classes, by which errors are recognized.
  minify: { compress: true, mangle: { toplevel: true, keepNames: { class: true, function: false } }, codegen: true },
});
await bundle.close();

// A bundle of its own: a thread that reads texts needs nothing else of the program.
const worker = await rolldown({
  cwd: root,
  input: 'src/adapters/outbound/texts/text-worker.ts',
  platform: 'node',
  transform: { target: 'node20' },
  logLevel: 'warn',
});
const { output: workerOutput } = await worker.write({
  file: `build/chunks/text-worker-${version}.js`,
  format: 'cjs',
  minify: true,
});
await worker.close();

const pageFolder = `${root}src/adapters/inbound/http/page`;
for (const name of ['index.html', 'page.css']) cpSync(`${pageFolder}/${name}`, `${root}build/page/${name}`);
const pageOutput = [];
for (const [script, name] of [
  ['main', 'page'],
  ['login', 'login'],
]) {
  const page = await rolldown({
    cwd: root,
    input: `${pageFolder}/${script}.ts`,
    platform: 'browser',
    logLevel: 'warn',
  });
  const { output } = await page.write({ file: `build/page/${name}.js`, format: 'es', minify: true });
  pageOutput.push(...output);
  await page.close();
}

const files = [...output, ...workerOutput, ...pageOutput].flatMap((chunk) => Object.keys(chunk.modules));
writeFileSync(`${root}build/package.json`, '{ "type": "commonjs" }\n');
writeFileSync(`${root}build/index.js`, ENTRY_POINT);
// Only known files: `--record` may have added others to the folder.
for (const name of SHIPPED_RECORDINGS) cpSync(`${root}recordings/${name}`, `${root}build/recordings/${name}`);
const packages = bundledPackages(files);
writeFileSync(`${root}build/THIRD_PARTY_LICENSES.txt`, packages.map(licenceOf).join('\n'));
writeFileSync(`${root}build/sbom.cdx.json`, `${JSON.stringify(billOfMaterials(packages))}\n`);
chmodSync(`${root}build/index.js`, 0o755);

/** Every package of which the bundle contains a file, sorted by name. */
function bundledPackages(files) {
  const folders = new Map();
  for (const file of files) {
    const [, folder, name] = posix(file).match(/(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//) ?? [];
    if (name) folders.set(name, folder);
  }
  return [...folders].sort().map(([name, folder]) => {
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    return { name, version, license, folder };
  });
}

function licenceOf({ name, version, license, folder }) {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(`${folder}/${file}`, 'utf8') : mitLicenceOf(name, license);
  if (!text) throw new Error(`${name} ${version} is bundled but contains no licence file`);
  return `${name} ${version} (${license})\n${'-'.repeat(72)}\n${text.trim()}\n`;
}

/** The MIT licence of a package without a licence file: the text of this project's licence, with the package's copyright line. */
function mitLicenceOf(name, license) {
  if (license !== 'MIT' || COPYRIGHTS[name] === undefined) return undefined;
  return readFileSync(`${root}LICENSE`, 'utf8').replace(/^Copyright .*$/m, COPYRIGHTS[name]);
}

/** A list in CycloneDX for scanners, because the published package has no dependencies in which they could find the bundled packages. */
function billOfMaterials(packages) {
  const purl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const components = packages.map(({ name, version, license }) => ({
    type: 'library',
    name,
    version,
    licenses: [{ expression: license }],
    purl: purl(name, version),
  }));
  const component = {
    type: 'application',
    name: 'openai-responses-mcp',
    version,
    purl: purl('openai-responses-mcp', version),
  };
  // The ID is the same for the same content, so that two builds of a commit do not differ.
  const hash = createHash('sha256')
    .update(JSON.stringify([component, components]))
    .digest('hex');
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5');
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    metadata: { component },
    components,
  };
}

/** On Windows, the ids of modules are paths with backslashes. */
function posix(file) {
  return file.replaceAll('\\', '/');
}
