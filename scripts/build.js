// Bundles src/main.ts into build/main.js, with chunks that are loaded when they are first needed, and adds the entry point
// build/index.js, the recordings of the package, and the licences and the bill of materials of the bundled packages.
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { entryPoint } from './lib/entry-point.js';
import { loadBundle } from './lib/load-source.js';
import { withoutUnusedParts } from './lib/without-unused-parts.js';

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

/** The holders of packages whose licence file is only in their repository. */
const COPYRIGHTS = { '@redis/client': 'Copyright (c) 2022-2025, Redis, inc.' };

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

rmSync(`${root}build`, { recursive: true, force: true });

/** What these files import, directly or not, is one file each, because each file costs time at the start. */
const STARTS = [{ name: 'start', file: 'src/main.ts' }];
const startOf = new Map();
const findStarts = {
  name: 'find-starts',
  buildEnd() {
    const visit = (id, name) => {
      if (startOf.has(id)) return;
      startOf.set(id, name);
      for (const imported of this.getModuleInfo(id).importedIds) visit(imported, name);
    };
    const ids = [...this.getModuleIds()];
    for (const { name, file } of STARTS)
      visit(
        ids.find((id) => posix(id) === posix(join(root, file))),
        name,
      );
  },
};

/** The defaults of the configuration as values: the start need not load the table of keys. */
const DEFAULTS = 'src/adapters/outbound/config/default-config.ts';
const defaults = await loadBundle(`export * from './${DEFAULTS}';`);
const evaluatedDefaults = {
  name: 'evaluated-defaults',
  load: (id) =>
    posix(id) === posix(join(root, DEFAULTS))
      ? Object.entries(defaults)
          .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
          .join('\n')
      : undefined,
};

/** Each plugin and each alias leaves out what this program does not use of a package. */
const ALIASES = {
  '@modelcontextprotocol/client/_shims': 'scripts/lib/client-shims.js',
  '@redis/client$': 'scripts/lib/redis-parts.js',
  undici$: 'scripts/lib/undici-parts.js',
};

const bundle = await rolldown({
  cwd: root,
  // The thread of the checks has a main module of its own. It shares its packages with the program.
  input: { main: 'src/main.ts', 'chunks/schema-worker': 'src/adapters/outbound/mcp-client/schema-worker.ts' },
  platform: 'node',
  // ES modules where a package has them: they need no wrappers, which cost time at the start.
  resolve: {
    mainFields: ['es2015', 'module', 'main'],
    alias: Object.fromEntries(Object.entries(ALIASES).map(([name, file]) => [name, join(root, file)])),
  },
  transform: { target: 'node20', define: { PACKAGE_VERSION: JSON.stringify(version) } },
  logLevel: 'warn',
  plugins: [evaluatedDefaults, findStarts, withoutUnusedParts],
});
const { output } = await bundle.write({
  dir: 'build',
  // CommonJS starts some milliseconds sooner than ES modules.
  format: 'cjs',
  chunkFileNames: 'chunks/[name].js',
  codeSplitting: { groups: STARTS.map(({ name }) => ({ name, test: (id) => startOf.get(id) === name })) },
  // Short names are parsed faster. Those of classes are kept, because errors are recognized by them.
  minify: { compress: true, mangle: { toplevel: true, keepNames: { class: true, function: false } }, codegen: true },
});

// Whatever is in main.js would start the program again in the thread.
const threadFiles = (file) => {
  const { imports } = output.find(({ fileName }) => fileName === file) ?? { imports: [] };
  return [file, ...imports.flatMap(threadFiles)];
};
if (threadFiles('chunks/schema-worker.js').includes('main.js')) throw new Error('schema-worker.js imports main.js');

// V8 reads a text of one byte per character faster, which one other character prevents.
const main = readFileSync(`${root}build/main.js`, 'utf8');
const escaped = main.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
writeFileSync(`${root}build/main.js`, escaped);

const files = output.flatMap((chunk) => Object.keys(chunk.modules));
for (const [name, file] of Object.entries(ALIASES)) {
  if (!files.some((id) => posix(id).endsWith(file))) throw new Error(`${name} is no longer replaced by ${file}`);
}
writeFileSync(`${root}build/package.json`, '{ "type": "commonjs" }\n');
writeFileSync(`${root}build/index.js`, entryPoint(version));
// The compiled code (scripts/lib/entry-point.js).
writeFileSync(`${root}build/.npmignore`, '*.cache*\n');
// Only known files: `--record` may have added others to the folder.
for (const name of SHIPPED_RECORDINGS) cpSync(`${root}recordings/${name}`, `${root}build/recordings/${name}`);
const packages = bundledPackages(files);
writeFileSync(`${root}build/THIRD_PARTY_LICENSES.txt`, packages.map(licenceOf).join('\n'));
writeFileSync(`${root}build/sbom.cdx.json`, `${JSON.stringify(billOfMaterials(packages))}\n`);
const pageFolder = `${root}src/adapters/inbound/http/page`;
for (const name of ['index.html', 'page.css']) cpSync(`${pageFolder}/${name}`, `${root}build/page/${name}`);
// Without comments and long names, because the size of the package is limited.
const page = await rolldown({
  cwd: root,
  input: 'src/adapters/inbound/http/page/page.js',
  platform: 'browser',
  logLevel: 'warn',
});
await page.write({ file: 'build/page/page.js', format: 'es', minify: true });
await page.close();
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

/** The text of the MIT licence is that of this project. */
function mitLicenceOf(name, license) {
  if (license !== 'MIT' || COPYRIGHTS[name] === undefined) return undefined;
  return readFileSync(`${root}LICENSE`, 'utf8').replace(/^Copyright .*$/m, COPYRIGHTS[name]);
}

/** CycloneDX, for scanners: the published package has no dependencies in which they could find the bundled packages. */
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
  // The same for the same content, so that two builds of a commit do not differ.
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
