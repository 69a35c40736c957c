import type { Token, Tokens } from 'marked';
import { blocksOf, isBareUrl, known } from '../../answer-markdown.ts';
import { hostOf, webHref, withoutUser } from './web-link.ts';

/** A part of an answer: a text, or an element of the page. */
export type Part = string | PartElement;

interface PartElement {
  readonly tag: Tag;
  readonly parts: readonly Part[];
  /** The URL of a link. */
  readonly href?: string;
  /** The first number of a list. */
  readonly start?: number;
}

/** Every element that an answer can have. */
type Tag = Block | Span | 'a';
type Block = 'p' | 'h3' | 'pre' | 'hr' | 'blockquote' | 'ul' | 'ol' | 'li' | 'table' | 'tr' | 'th' | 'td';
type Span = 'strong' | 'em' | 'code';

/** The parts of an answer. HTML, and every kind of Markdown that is not known here, becomes text. */
export function answerParts(markdown: string): readonly Part[] {
  return blocksOf(markdown).flatMap(block);
}

function block(token: Token): readonly Part[] {
  const found = known(token);
  switch (found.type) {
    case 'space':
      return [];
    case 'heading':
      return [part('h3', found.tokens.flatMap(span))];
    case 'paragraph':
      return [part('p', found.tokens.flatMap(span))];
    // The text of a list entry.
    case 'text':
      return found.tokens === undefined ? [found.raw] : found.tokens.flatMap(span);
    case 'checkbox':
      return [found.raw];
    case 'code':
      return [part('pre', [found.text])];
    case 'hr':
      return [part('hr', [])];
    case 'blockquote':
      return [part('blockquote', found.tokens.flatMap(block))];
    case 'list':
      return [list(found)];
    case 'table':
      return [table(found)];
    default:
      return [part('p', [found.raw.trimEnd()])];
  }
}

function list({ ordered, start, items }: Tokens.List): Part {
  const entries = items.map(({ tokens }) => part('li', tokens.flatMap(block)));
  return ordered ? { ...part('ol', entries), start: Number(start) } : part('ul', entries);
}

function table({ header, rows }: Tokens.Table): Part {
  const row = (tag: 'th' | 'td', cells: readonly Tokens.TableCell[]) =>
    part(
      'tr',
      cells.map(({ tokens }) => part(tag, tokens.flatMap(span))),
    );
  return part('table', [row('th', header), ...rows.map((cells) => row('td', cells))]);
}

function span(token: Token): readonly Part[] {
  const found = known(token);
  switch (found.type) {
    case 'strong':
    case 'em':
      return [part(found.type, found.tokens.flatMap(span))];
    case 'codespan':
      return [part('code', [found.text])];
    case 'br':
      return ['\n'];
    case 'escape':
      return [found.text];
    case 'link':
    case 'image':
      return link(found);
    default:
      return [found.raw];
  }
}

/** A link shows where it leads: its text is the host, or the URL follows. Images are links, because nothing is loaded from elsewhere. */
function link(token: Tokens.Link | Tokens.Image): readonly Part[] {
  const href = webHref(token.href);
  if (href === undefined) return [token.raw];
  const to = (text: string): Part => ({ ...part('a', [text]), href });
  if (isBareUrl(token)) return [to(withoutUser(token.text))];
  if (hostOf(href).replace(/^www\./, '') === token.text) return [to(token.text)];
  return [...(token.tokens ?? []).flatMap(span), ' (', to(href), ')'];
}

function part(tag: Tag, parts: readonly Part[]): PartElement {
  return { tag, parts };
}
