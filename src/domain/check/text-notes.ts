import { type MarkedText, markedText, namesIn, noteName, REFERENCE } from './marked-text.ts';
import { ENTRY, HEADING, SOURCE_LEAD, SOURCES, type TextBlock, textBlocks } from './text-blocks.ts';
import type { BlockRole, TextPiece } from './text-piece.ts';
import type { WrittenUrl } from './written-url.ts';

/** Maximum number of pages that a number cites, if its entry in the list of sources has several. */
const MAX_PAGES_OF_NOTE = 10;
/** Headings of sections with sources, which may also contain prose. */
const MAYBE_SOURCES = /notes|links|注|脚注/i;
/** A block with its links. */
export interface ReadBlock {
  readonly marked: MarkedText;
  readonly role: BlockRole;
  /** The place at which the quotation begins that the block is inside. */
  readonly quote: number | undefined;
  readonly isNested: boolean;
  /** Headings, notes and lists of sources claim nothing. */
  readonly isProse: boolean;
  /** Whether links without a text are the source of the block before it. */
  readonly isSource: boolean;
  /** The pages of the note with a name. */
  readonly pagesOf: (name: string) => readonly WrittenUrl[];
}

/** The blocks of a text, and the URLs of its definitions. */
export function readBlocks(pieces: readonly TextPiece[]) {
  const blocks = textBlocks(pieces);
  const notes = new Notes();
  const definitions = pieces.filter((piece) => piece.kind === 'definition');
  const kinds = new Kinds(blocks);
  let next = 0;
  const isProse = blocks.map((block, at) => {
    for (; (definitions[next]?.at ?? Number.POSITIVE_INFINITY) < block.at; next += 1)
      notes.define(definitions[next], at);
    const { names, isProse } = kinds.next(block, at);
    const urls = names.length === 0 ? [] : urlsIn(block);
    for (const name of names) notes.add(name, urls, at);
    return isProse && (urls.length === 0 || names.every((name) => name.startsWith('#')));
  });
  for (; next < definitions.length; next += 1) notes.define(definitions[next], blocks.length);
  const read = blocks.map((block, at): ReadBlock => {
    const isLead = SOURCE_LEAD.test(block.text) && (block.isLine || !/^\W{0,9}sources/i.test(block.text));
    return {
      marked: markedText(block, (name) => notes.has(name)),
      role: block.role,
      quote: block.quote,
      isNested: block.isNested,
      isProse: isProse[at] === true,
      isSource: isLead || (block.isNested && block.role === 'item'),
      pagesOf: (name) => notes.after(at, name),
    };
  });
  return { blocks: read, definitions: definitions.map(({ url, at }): WrittenUrl => ({ url, at })) };
}

function urlsIn(block: TextBlock): readonly WrittenUrl[] {
  return markedText(block, () => false).marks.flatMap(({ url, at }) => (url === undefined ? [] : [{ url, at }]));
}

/** The pages of a note. `end`: the number of the last block that belongs to it. */
interface Note {
  readonly urls: WrittenUrl[];
  readonly at: number;
  end: number;
}

/** The notes of a text by their names. */
class Notes {
  readonly #notes = new Map<string, { readonly all: Note[]; passed: number }>();

  has(name: string): boolean {
    return this.#notes.has(name);
  }

  define(definition: Extract<TextPiece, { kind: 'definition' }> | undefined, at: number): void {
    if (definition !== undefined) this.add(definition.name, [definition], at);
  }

  /** Adds a note. `at`: the number of blocks before it. Further paragraphs of a footnote belong to it. */
  add(name: string, urls: readonly WrittenUrl[], at: number): void {
    const notes = this.#notes.get(name) ?? { all: [], passed: 0 };
    const last = notes.all.at(-1);
    if (last !== undefined && name.startsWith('^') && last.end === at - 1) {
      last.urls.push(...urls);
      last.end = at;
    } else if (urls.length > 0) {
      notes.all.push({ urls: [...urls], at, end: at });
      this.#notes.set(name, notes);
    }
  }

  /** Each list of sources may start with 1 again: a number refers to the next list. Blocks are read in their order. */
  after(at: number, name: string): readonly WrittenUrl[] {
    const notes = this.#notes.get(name);
    if (notes === undefined) return [];
    const { all } = notes;
    while (notes.passed < all.length - 1 && (all[notes.passed]?.at ?? 0) <= at) notes.passed += 1;
    return all[notes.passed]?.urls.slice(0, MAX_PAGES_OF_NOTE) ?? [];
  }
}

const NAMED = /^\s*(?:[-*+•・]\s+)?(?:\[(?<id>\^?[^\][]{1,60})\]:|[[［【](?<number>\^?[\d０-９]{1,3}\^?)[\]］】])/;

/** Finds out in the order of the blocks which of them are prose, and which are notes. */
class Kinds {
  /** Whether the preceding block is a heading of sources, or a part of their list. */
  #sources: 'none' | 'heading' | 'prose' | 'list' = 'none';
  /** The first block that refers to a number. */
  readonly #referred = new Map<string, number>();

  constructor(blocks: readonly TextBlock[]) {
    for (const [at, block] of blocks.entries())
      for (const name of referencesIn(block)) if (!this.#referred.has(name)) this.#referred.set(name, at);
  }

  next(block: TextBlock, at: number): { readonly names: readonly string[]; readonly isProse: boolean } {
    const { role, text, name, number, anchors, isNested } = block;
    if (role === 'note' || name !== undefined) return { names: [`${name}`, ...anchors], isProse: false };
    const isSources = text.length <= 200 && SOURCES.test(text);
    const isHeading = isSources || role === 'heading' || HEADING.test(text);
    const isParagraph = role === 'paragraph' && !isHeading && !isNested && !ENTRY.test(text) && !/^\s*[•・]/.test(text);
    if (isHeading) this.#sources = !isSources ? 'none' : MAYBE_SOURCES.test(text) ? 'prose' : 'heading';
    else if (this.#sources !== 'none')
      this.#sources = !isParagraph ? 'list' : this.#sources === 'list' ? 'none' : this.#sources;
    const isProse = !isHeading && (this.#sources === 'none' || (this.#sources === 'prose' && isParagraph));
    return { names: [...this.#named(text, number, at), ...anchors], isProse };
  }

  /** The name of a note. A number without brackets, or in round ones, is one only in a list of sources, or if the text before it refers to it. */
  #named(text: string, number: number | undefined, at: number): readonly string[] {
    const { id, number: named = id } = NAMED.exec(text)?.groups ?? {};
    if (named !== undefined) return [noteName(named)];
    const isReferred = (name: string) => (this.#referred.get(name) ?? at) < at;
    if (number !== undefined) return this.#sources === 'list' || isReferred(`${number}`) ? [`${number}`] : [];
    const [, item] = /^\s*([\d０-９]{1,3})(?:[.)]\s|．)/.exec(text) ?? [];
    const name = noteName(item ?? '');
    if (item !== undefined) return this.#sources === 'list' || isReferred(name) ? [name] : [];
    const [first] = text.slice(0, 40).matchAll(REFERENCE);
    if (first === undefined || first.groups?.ids !== undefined || text.slice(0, first.index).trim() !== '') return [];
    return namesIn(first.groups ?? {}, '').filter((name) => this.#sources === 'list' || isReferred(name));
  }
}

/** The numbers to which a block refers after its beginning. */
function referencesIn({ text, pieces }: TextBlock): readonly string[] {
  const names = pieces.flatMap((piece) => (piece.kind === 'note' ? piece.names : []));
  for (const { index, groups = {} } of text.matchAll(REFERENCE))
    if (index > 0 && text.slice(Math.max(0, index - 20), index).trim() !== '')
      names.push(...namesIn(groups, text.slice(Math.max(0, index - 3), index)));
  return names;
}
