import { readFileSync } from 'node:fs';
import { readPage } from '../../src/adapters/outbound/pages/page-text.ts';
import type { PageText } from '../../src/domain/evidence/evidence.ts';

const FOLDER = new URL('../fixtures/evidence/', import.meta.url);
const texts = new Map<string, PageText>();

/** A labelled claim, and the page that an answer with it would cite. */
export interface LabelledClaim {
  readonly page: string;
  readonly label: string;
  readonly claim: string;
}

export function labelledClaims(file: string): LabelledClaim[] {
  const lines = readFileSync(new URL(file, FOLDER), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [page = '', label = '', claim = ''] = line.split('\t');
      return { page, label, claim };
    });
}

export function pageText(page: string): PageText {
  const known =
    texts.get(page) ?? readPage(readFileSync(new URL(`pages/${page}.html`, FOLDER), 'utf8'), 'text/html', false).text;
  texts.set(page, known);
  return known;
}
