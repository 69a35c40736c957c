import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPage } from '../../src/adapters/outbound/pages/page-text.ts';

const FOLDER = fileURLToPath(new URL('../fixtures/quotes', import.meta.url));

/** The labelled quotations, each with the text of the page that a report with it cites. */
export function labelledQuotes() {
  const lines = readFileSync(join(FOLDER, 'quotes.tsv'), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [half = '', name = '', label = '', quote = ''] = line.split('\t');
      const html = readFileSync(join(FOLDER, 'pages', `${name}.html`), 'utf8');
      const { text: page } = readPage(html, 'text/html', false);
      return { half, name, label, quote: quote.replaceAll('\\n', '\n'), page };
    });
}
