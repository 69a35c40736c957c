import type { Definition, List, Nodes, PhrasingContent, Root, Text } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFootnoteFromMarkdown } from 'mdast-util-gfm-footnote';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmFootnote } from 'micromark-extension-gfm-footnote';
import { gfmTable } from 'micromark-extension-gfm-table';
import type { BlockPiece, TextPiece } from '../../../domain/check/text-piece.ts';
import { HtmlReader } from './html-reader.ts';

/**
 * The tree of a text in Markdown, with tables and footnotes. Emphasis stays in the text: it changes no link, and its marks take the parser quadratic time.
 * Bare URLs stay, too, because they end differently in typographic and East Asian text.
 */
export function markdownTree(text: string): Root {
  return fromMarkdown(text, {
    extensions: [...(TABLE.test(text) ? [gfmTable()] : []), gfmFootnote(), { disable: { null: ['attention'] } }],
    mdastExtensions: [gfmTableFromMarkdown(), gfmFootnoteFromMarkdown()],
  });
}

/** What every table has. Each line of a text without it would be read as the head of one first. */
const TABLE = /\||:-|-:/;

/** The pieces of a text in Markdown, by its tree. */
export function markdownPieces(text: string, tree: Root): readonly TextPiece[] {
  return new MarkdownWalk(text, tree).pieces;
}

/** Where a node is: within an item, a quotation or a footnote. */
interface Surroundings {
  readonly isNested: boolean;
  /** Where the outermost quotation begins. */
  readonly quote?: number;
  readonly name?: string;
}

class MarkdownWalk {
  readonly pieces: TextPiece[] = [];
  readonly #source: string;
  readonly #definitions = new Map<string, Definition>();
  /** The names to which images refer, and links do not. */
  readonly #images = new Set<string>();
  readonly #html = new HtmlReader((piece) => this.pieces.push(piece), false);

  constructor(source: string, tree: Root) {
    this.#source = source;
    const linked = new Set<string>();
    this.#define(tree, linked);
    for (const name of linked) this.#images.delete(name);
    this.#flow(tree, { isNested: false });
  }

  /** The first definition of a name counts, as CommonMark says. */
  #define(node: Nodes, linked: Set<string>): void {
    if (node.type === 'definition' && !this.#definitions.has(node.identifier))
      this.#definitions.set(node.identifier, node);
    if (node.type === 'imageReference') this.#images.add(node.identifier);
    if (node.type === 'linkReference') linked.add(node.identifier);
    if ('children' in node) for (const child of node.children) this.#define(child, linked);
  }

  #flow(node: Nodes, around: Surroundings): void {
    const at = startOf(node);
    const block = (role: BlockPiece['role']) => this.#block({ role, at, ...around });
    switch (node.type) {
      case 'root':
        this.#flowAll(node.children, around);
        return;
      case 'blockquote':
        this.#flowAll(node.children, { quote: at, ...around });
        return;
      case 'footnoteDefinition':
        this.#flowAll(node.children, { ...around, name: `^${node.identifier}` });
        return;
      case 'list':
        this.#items(node, around);
        return;
      case 'table':
        for (const row of node.children) {
          this.#block({ role: 'row', at: startOf(row), ...around });
          for (const cell of row.children) {
            this.pieces.push({ kind: 'cell', at: startOf(cell) });
            this.#phrases(cell.children);
          }
        }
        return;
      case 'definition': {
        const { identifier: name, url } = node;
        this.pieces.push(this.#images.has(name) ? { kind: 'image', url, at } : { kind: 'definition', name, url, at });
        return;
      }
      case 'code':
        block('paragraph');
        this.pieces.push({ kind: 'code', text: this.#source.slice(at, endOf(node)), at, isInline: false });
        return;
      case 'html':
        block('paragraph');
        this.#html.read(node.value, at);
        return;
      case 'heading':
      case 'paragraph':
        block(node.type === 'heading' ? 'heading' : around.name === undefined ? 'paragraph' : 'note');
        this.#phrases(node.children);
        return;
      default:
        block('paragraph');
    }
  }

  #flowAll(nodes: readonly Nodes[], around: Surroundings): void {
    for (const node of nodes) this.#flow(node, around);
  }

  #items({ ordered, start, children }: List, around: Surroundings): void {
    for (const [index, item] of children.entries()) {
      const number = ordered === true ? (start ?? 1) + index : undefined;
      this.#block({ role: 'item', at: startOf(item), ...around, ...(number !== undefined && { number }) });
      const [first, ...others] = item.children;
      // The first paragraph is the text of the item, and has no block of its own.
      if (first?.type === 'paragraph') this.#phrases(first.children);
      const rest = first?.type === 'paragraph' || first === undefined ? others : item.children;
      this.#flowAll(rest, { ...around, isNested: true });
    }
  }

  #block(block: Omit<BlockPiece, 'kind'>): void {
    this.#html.endBlock();
    this.pieces.push({ kind: 'block', ...block });
  }

  #phrases(nodes: readonly PhrasingContent[]): void {
    for (const node of nodes) this.#phrase(node);
  }

  #phrase(node: PhrasingContent): void {
    const at = startOf(node);
    switch (node.type) {
      case 'text':
        this.#text(node);
        return;
      case 'inlineCode':
        this.pieces.push({ kind: 'code', text: node.value, at: at + 1, isInline: true });
        return;
      case 'html':
        this.#html.read(node.value, at);
        return;
      case 'break':
        this.pieces.push({ kind: 'break', at });
        return;
      case 'image':
        this.pieces.push({ kind: 'image', url: node.url, at });
        return;
      case 'imageReference':
        return;
      case 'footnoteReference':
        this.pieces.push({ kind: 'note', names: [`^${node.identifier}`], at });
        return;
      case 'link':
        this.#link(node.url, at, node.children);
        return;
      case 'linkReference':
        this.#reference(node.label ?? '', node.identifier, at, node.children);
        return;
      default:
    }
  }

  #link(url: string, at: number, children: readonly PhrasingContent[]): void {
    this.pieces.push({ kind: 'link', url, at });
    this.#phrases(children);
    this.pieces.push({ kind: 'link_end', at });
  }

  /** A reference to a definition. Of `[1][2]` both are numbers of sources, although Markdown takes the first for a label; so is the label of `[^1^][1]`. */
  #reference(label: string, identifier: string, at: number, children: readonly PhrasingContent[]): void {
    const [first] = children;
    const shown = children.length === 1 && first?.type === 'text' ? first.value.replace(/^\^(.*)\^$/, '$1') : '';
    if (!isNumber(label) || !isNumber(shown)) {
      this.#link(this.#definitions.get(identifier)?.url ?? '', at, children);
      return;
    }
    for (const name of new Set([shown, identifier])) this.pieces.push({ kind: 'note', names: [name], at });
  }

  /** Adds a text in parts that equal their source, so that the place of each character is known: without escapes, entities and the marks before a line. */
  #text(node: Text): void {
    const { value } = node;
    const end = endOf(node);
    let from = 0;
    let at = startOf(node);
    let place = at;
    const flush = (to: number) => {
      if (to > from) this.#html.text(value.slice(from, to), at);
    };
    for (let index = 0; index < value.length; index += 1) {
      const character = value.charAt(index);
      if (character === '\n') {
        flush(index);
        this.pieces.push({ kind: 'break', at: place });
        place = Math.min(end, this.#source.indexOf('\n', place) + 1 || end);
        [from, at] = [index + 1, place];
        continue;
      }
      if (this.#source.charAt(place) === character && !isEntity(this.#source, place)) {
        place += 1;
        continue;
      }
      flush(index);
      from = index;
      if (isEntity(this.#source, place)) {
        at = place;
        place = this.#source.indexOf(';', place) + 1;
        // An entity of one character, or of two.
        const size = (value.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
        this.#html.text(value.slice(index, index + size), at);
        index += size - 1;
        from = index + 1;
        at = place;
        continue;
      }
      const next = this.#source.indexOf(character, place);
      if (next !== -1 && next < end) place = next;
      at = place;
      place += 1;
    }
    flush(value.length);
  }
}

/** Whether a source has an entity here, such as `&amp;`. */
function isEntity(source: string, at: number): boolean {
  return (
    source.charAt(at) === '&' && /^&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/i.test(source.slice(at, at + 40))
  );
}

function isNumber(name: string): boolean {
  return /^\d{1,3}$/.test(name);
}

function startOf({ position }: Nodes): number {
  return position?.start.offset ?? 0;
}

function endOf({ position }: Nodes): number {
  return position?.end.offset ?? 0;
}
