import { readFileSync } from 'node:fs';
import { Parser } from 'htmlparser2';
import type { PageText } from '../../src/domain/evidence/evidence.ts';

const FOLDER = new URL('../fixtures/evidence/', import.meta.url);
const HIDDEN = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'select']);
const INLINE = new Set([
  'a',
  'abbr',
  'b',
  'bdi',
  'cite',
  'code',
  'em',
  'i',
  'kbd',
  'mark',
  'q',
  's',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'time',
  'u',
  'wbr',
]);
const META = new Set(['description', 'og:description', 'og:title', 'article:published_time']);

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
  return toPageText(readFileSync(new URL(`pages/${page}.html`, FOLDER), 'utf8'));
}

/** What a reader of pages finds in well-formed HTML (ruling E9). */
function toPageText(html: string): PageText {
  let visible = '';
  let hidden = 0;
  const other: string[] = [];
  const parser = new Parser({
    onopentag: (name, { property = '', name: metaName = '', content, datetime, alt }) => {
      if (HIDDEN.has(name)) hidden += 1;
      if (!INLINE.has(name)) visible += '\n';
      if (name === 'meta' && content !== undefined && (META.has(property) || META.has(metaName))) other.push(content);
      if (name === 'time' && datetime !== undefined) other.push(datetime);
      if (name === 'img' && alt !== undefined) other.push(alt);
    },
    ontext: (text) => {
      if (hidden === 0) visible += text.replace(/\s+/g, ' ');
    },
    onclosetag: (name) => {
      if (HIDDEN.has(name)) hidden -= 1;
      if (!INLINE.has(name)) visible += '\n';
    },
  });
  parser.end(html);
  return { visible: visible.replace(/\s*\n\s*/g, '\n').trim(), other, isCut: false };
}
