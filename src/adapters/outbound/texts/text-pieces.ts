import type { Root } from 'mdast';
import type { TextPiece } from '../../../domain/check/text-piece.ts';
import { HtmlReader } from './html-reader.ts';
import { markdownPieces, markdownTree } from './markdown-pieces.ts';

/** The pieces of a text in Markdown or HTML. */
export function textPieces(text: string): readonly TextPiece[] {
  if (DOCUMENT.test(text.slice(0, MAX_START))) return htmlPieces(text);
  const tree = markdownTree(text);
  return isOnlyHtml(tree, text) ? htmlPieces(text) : markdownPieces(text, tree);
}

const MAX_START = 1000;
/** How a complete document begins. */
const DOCUMENT =
  /^\uFEFF?\s{0,100}(?:<\?xml[^>]{0,200}>\s{0,100})?(?:<!--[^>]{0,500}-->\s{0,100})?<(?:!doctype\s+html|html|body|main|article)\b/i;

/** Whether a text is a part of a page: HTML, which Markdown takes for code where it is indented. */
function isOnlyHtml({ children }: Root, text: string): boolean {
  const isIndented = (at = 0) => text.charAt(at) !== '`' && text.charAt(at) !== '~';
  return (
    children[0]?.type === 'html' &&
    children.every(({ type, position }) => type === 'html' || (type === 'code' && isIndented(position?.start.offset)))
  );
}

function htmlPieces(html: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [{ kind: 'block', role: 'paragraph', at: 0, isNested: false }];
  new HtmlReader((piece) => pieces.push(piece), true).read(html, 0);
  return pieces;
}
