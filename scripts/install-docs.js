// npm run docs:install: writes the links and commands that install the server into the documents.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withInstallParts } from './lib/install-links.js';

for (const name of ['README.md', 'README.ja.md', 'docs/clients.md']) {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
  writeFileSync(file, withInstallParts(readFileSync(file, 'utf8')));
}
