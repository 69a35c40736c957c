import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of labelled claims of the repository, and one that an environment variable can name. */
export const EVIDENCE_FOLDERS = [
  fileURLToPath(new URL('../fixtures/evidence', import.meta.url)),
  ...(process.env.EVIDENCE_DIR ? [process.env.EVIDENCE_DIR] : []),
];

/** The true claims (T) and the claims with an altered figure (N, D) of a folder, with the HTML of the page that an answer with each would cite. */
export function labelledClaims(folder: string) {
  const lines = readFileSync(join(folder, 'claims.tsv'), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t') as [page: string, label: string, claim: string])
    .filter(([, label]) => 'TND'.includes(label))
    .map(([page, label, claim]) => {
      const html = readFileSync(join(folder, 'pages', `${page}.html`), 'utf8');
      return { html, isTrue: label === 'T', claim };
    });
}
