import { Parser } from 'htmlparser2';

/** Receives each element and text of a page, in order. */
export interface ElementVisitor {
  /** `depth` is the number of open elements. */
  onOpened(name: string, attributes: Readonly<Record<string, string>>, depth: number): void;
  onClosed(name: string, depth: number): void;
  onText(text: string): void;
}

/** Reading stops at an element that is nested more deeply, because the parser is slower with each open element. */
const MAX_DEPTH = 256;

/** Elements that the parser also remembers if they have no end tag. Many of them would take minutes. */
const REMEMBERED = /^(?:svg|math|m[inos]|mtext|annotation-xml|foreignobject|desc|title)$/;
const MAX_REMEMBERED = 10_000;

/** Reads the elements of a page. Returns whether it was read to its end. */
export function visitElements(html: string, visitors: readonly ElementVisitor[], isXml = false): boolean {
  let [depth, remembered, isComplete] = [0, 0, true];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        isComplete = depth <= MAX_DEPTH && remembered <= MAX_REMEMBERED;
        if (!isComplete) return parser.pause();
        for (const visitor of visitors) visitor.onOpened(name, attributes, depth);
      },
      onclosetag: (name, isImplied) => {
        depth -= 1;
        if (isImplied && REMEMBERED.test(name)) remembered += 1;
        for (const visitor of visitors) visitor.onClosed(name, depth);
      },
      ontext: (text) => {
        for (const visitor of visitors) visitor.onText(text);
      },
    },
    // In XHTML, `<script/>` is a complete element.
    { recognizeSelfClosing: isXml },
  );
  parser.write(html);
  if (isComplete) parser.end();
  return isComplete;
}
