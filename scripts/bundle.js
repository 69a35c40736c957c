// npm run bundle [-- FILE]: packs the build for Claude Desktop (MCPB), and prints the SHA-256 of the file, which clients check.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packExtension } from '@anthropic-ai/mcpb';

const root = fileURLToPath(new URL('../', import.meta.url));
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [file = join(root, `${name}-${version}.mcpb`)] = process.argv.slice(2);

const folder = mkdtempSync(join(tmpdir(), `${name}-bundle-`));
process.on('exit', () => rmSync(folder, { recursive: true }));
for (const content of ['build', 'LICENSE']) cpSync(join(root, content), join(folder, content), { recursive: true });
for (const content of ['manifest.json', 'icon.png'])
  cpSync(join(root, 'deploy', 'mcpb', content), join(folder, content));
const isPacked = await packExtension({ extensionPath: folder, outputPath: file, silent: true });
if (isPacked) {
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
  console.log(`${hash}  ${basename(resolve(file))}`);
} else {
  console.error(
    'The bundle could not be packed: check deploy/mcpb/manifest.json with npx @anthropic-ai/mcpb validate.',
  );
  process.exitCode = 1;
}
