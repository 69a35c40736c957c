import type { BlockPiece, TextPiece } from './text-piece.ts';

/** A paragraph, item, row, heading or note of a text, or a line of one that stands for itself. */
export interface TextBlock extends Omit<BlockPiece, 'kind' | 'quote'> {
  quote: number | undefined;
  /** The places to which links lead: `#fn1`. */
  readonly anchors: string[];
  readonly pieces: TextPiece[];
  /** The text without links and code, by which sources and notes are recognized. */
  text: string;
  /** Whether the block is a further line of its paragraph. */
  readonly isLine: boolean;
}

/** A line of a paragraph that begins with a bullet. */
const BULLET = /^\s*[•・●▪]\s?\S/;
/** A line that is an entry of a list of sources, if it has a URL. */
export const ENTRY =
  /^\s*(?:\[\^?[^\][]{1,60}\]:?|[［【][\d０-９]{1,3}[］】]|[\d０-９]{1,3}(?:[.)]\s|．)|※\s?[\d０-９]{1,3}|[①-⑳]|[⁰¹²³⁴-⁹]{1,3}|[(（][\d０-９]{1,3}[)）]|\*\d{1,2}\s)/;
/** A line with the source of the text before it. */
export const SOURCE_LEAD =
  /^[\s([（［【*_]{0,9}(?:sources?|via|quelle|出典|引用元?|参照元?|情報源)\s{0,3}[*_]{0,3}[:：]/i;
/** A heading of a list of sources. */
export const SOURCES =
  /^[\s#*_【[（(]{0,9}(?:\d{1,3}[.)]?\s{1,3})?(?:sources?|references|bibliography|(?:foot|end)?notes|links|works cited|citations|further reading|出典|参考(?:文献|資料|情報|リンク)?|引用(?:文献|元)?|情報源|脚注|注釈?|参照)[\s*_:：】\]）)]{0,9}$/i;

/** A paragraph that is a heading, or the mark of an alert. */
export const HEADING = /^\s*(?:\*\*[^*]{1,200}\*\*|\[!\w{1,20}\])\s*$/;

/** Groups pieces into blocks. Lines of a paragraph that are sources, entries or items, as in a text without Markdown, are blocks of their own. */
export function textBlocks(pieces: readonly TextPiece[]): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let block: TextBlock | undefined;
  /** The last line of the text of the block. */
  let line = '';
  const begin = (piece: Omit<BlockPiece, 'kind'>, isLine: boolean) => {
    const { at, role, number, name, isNested, quote } = piece;
    block = { at, role, isNested, quote, isLine, anchors: [], pieces: [], text: '', number, name } as TextBlock;
    blocks.push(block);
    line = '';
  };
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'block') {
      // An item begins with its first paragraph.
      if (block === undefined || block.pieces.length > 0 || piece.role !== 'paragraph') begin(piece, false);
      else block.quote = piece.quote;
      continue;
    }
    if (block === undefined) continue;
    if (piece.kind === 'anchor') block.anchors.push(`#${piece.name}`);
    else if (piece.kind === 'break' && isLineStart(block, line, pieces, index)) begin({ ...block, at: piece.at }, true);
    else {
      const text = piece.kind === 'text' ? piece.text : piece.kind === 'break' || piece.kind === 'cell' ? '\n' : '';
      block.text += text;
      line = text.includes('\n') ? text.slice(text.lastIndexOf('\n') + 1) : line + text;
      if (piece.kind !== 'text' || block.pieces.length > 0 || piece.text.trim() !== '') block.pieces.push(piece);
    }
  }
  return blocks.filter(({ pieces }) => pieces.length > 0);
}

/** Whether the line after a break is a block of its own. */
function isLineStart(block: TextBlock, last: string, pieces: readonly TextPiece[], at: number): boolean {
  if (block.role === 'row') return false;
  const line = lineAfter(pieces, at);
  return (
    BULLET.test(line.text) ||
    SOURCE_LEAD.test(line.text) ||
    (block.text.length <= 200 && (SOURCES.test(block.text) || HEADING.test(block.text))) ||
    (block.isLine && SOURCE_LEAD.test(block.text)) ||
    (ENTRY.test(line.text) && line.hasUrl) ||
    (ENTRY.test(last) && ENTRY.test(line.text))
  );
}

const MAX_LINE = 500;

/** The beginning of the line after a piece. */
function lineAfter(pieces: readonly TextPiece[], at: number) {
  let text = '';
  let hasUrl = false;
  for (let next = at + 1; next < pieces.length && text.length < MAX_LINE; next += 1) {
    const piece = pieces[next];
    if (piece === undefined || piece.kind === 'break' || piece.kind === 'block') break;
    if (piece.kind === 'text') text += piece.text;
    if (piece.kind === 'note') text += `[${piece.names[0]}]`;
    if (piece.kind === 'link') hasUrl = true;
  }
  return { text, hasUrl: hasUrl || /https?:\/\//i.test(text) };
}
