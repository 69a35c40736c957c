// npm run docs: writes everything that is generated from the code: parts of the documents, and config/config.schema.json.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generatedDocs } from './lib/generated-docs.js';

for (const [path, text] of await generatedDocs()) {
  writeFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), text);
}
