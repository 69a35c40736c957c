// Bundles src/main.ts into build/index.js, with chunks that load when first needed, and puts beside it what the
// program reads at run time: the shipped recordings, and the licences of what was bundled.
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

rmSync(`${root}build`, { recursive: true, force: true });

const bundle = await rolldown({
  cwd: root,
  input: { index: 'src/main.ts' },
  platform: 'node',
  // ES modules where a package has them: they need no wrappers, which cost time at the start.
  resolve: { mainFields: ['es2015', 'module', 'main'] },
  transform: { target: 'node20', define: { PACKAGE_VERSION: JSON.stringify(version) } },
  logLevel: 'warn',
});
const { output } = await bundle.write({
  dir: 'build',
  // CommonJS starts some milliseconds sooner than ES modules.
  format: 'cjs',
  chunkFileNames: 'chunks/[name].js',
  // Names stay: errors are told by theirs.
  minify: { compress: true, mangle: false, codegen: true },
});

writeFileSync(`${root}build/package.json`, '{ "type": "commonjs" }\n');
cpSync(`${root}recordings`, `${root}build/recordings`, { recursive: true });
writeFileSync(
  `${root}build/THIRD_PARTY_LICENSES.txt`,
  thirdPartyLicences(output.flatMap((chunk) => Object.keys(chunk.modules))),
);
chmodSync(`${root}build/index.js`, 0o755);

/** The licence texts of every package that the bundle holds a file of. */
function thirdPartyLicences(files) {
  const folders = new Map();
  for (const file of files) {
    const [, folder, name] = file.match(/(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//) ?? [];
    if (name) folders.set(name, folder);
  }
  return [...folders]
    .sort()
    .map(([name, folder]) => licenceOf(name, folder))
    .join('\n');
}

function licenceOf(name, folder) {
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} ${version} is bundled but ships no licence file; say where its licence stands`);
  return `${name} ${version} (${license})\n${'-'.repeat(72)}\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
}
