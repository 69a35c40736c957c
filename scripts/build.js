// Bundles src/main.ts into build/index.js, with chunks that load when first needed, and puts beside it what the
// program reads at run time: the shipped recordings, and the licences of what was bundled.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

rmSync(`${root}build`, { recursive: true, force: true });
mkdirSync(`${root}build`);

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { index: 'src/main.ts' },
  outdir: 'build',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  charset: 'utf8',
  metafile: true,
  legalComments: 'none',
  define: { PACKAGE_VERSION: JSON.stringify(version) },
  // CommonJS packages ask for Node's modules with `require`, which an ES module does not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

cpSync(`${root}recordings`, `${root}build/recordings`, { recursive: true });
writeFileSync(`${root}build/THIRD_PARTY_LICENSES.txt`, thirdPartyLicences(Object.keys(metafile.inputs)));
chmodSync(`${root}build/index.js`, 0o755);

/** The licence texts of every package that the bundle holds a file of. */
function thirdPartyLicences(inputs) {
  const packages = new Set();
  for (const input of inputs) {
    const name = input.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1];
    if (name) packages.add(name);
  }
  return [...packages].sort().map(licenceOf).join('\n');
}

function licenceOf(name) {
  const folder = `${root}node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} ${version} is bundled but ships no licence file; say where its licence stands`);
  return `${name} ${version} (${license})\n${'-'.repeat(72)}\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
}
