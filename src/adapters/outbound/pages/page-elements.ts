import { Tokenizer } from 'htmlparser2';

/** Is called for each element and text of a page, in order. */
export interface ElementVisitor {
  /** `depth` is the number of open elements. */
  onOpened(name: string, attributes: Readonly<Record<string, string>>, depth: number): void;
  onClosed(name: string, depth: number): void;
  onText(text: string): void;
}

const ATTRIBUTES = new Set(['type', 'content', 'datetime', 'itemprop', 'property', 'name', 'pubdate', 'alt']);

/** A page with more open elements is read no further. */
const MAX_OPEN = 2000;

/** Elements without an end tag, and those that need none: they do not count as open. */
const UNCOUNTED = new Set(
  'area base br col embed hr img input link meta param source track wbr html head body p li dt dd rb rt rp optgroup option colgroup caption thead tbody tfoot tr td th'.split(
    ' ',
  ),
);

/** Elements whose content is text. */
const RAW_TEXT = new Set(['script', 'style', 'title', 'textarea']);

/**
 * Reads the elements of a page, in time in proportion to its length. Returns whether it was read to its end. Not the parser of the package:
 * its time grows with the elements that are open, and so a page could hold the process up.
 */
export function visitElements(html: string, visitors: readonly ElementVisitor[], isXml = false): boolean {
  const open: string[] = [];
  /** How many of them have each name. */
  const counts = new Map<string, number>();
  let tag = '';
  let attributes: Record<string, string> = {};
  let attribute = '';
  /** The element of raw text that is open although its tag ends with a `/`: what looks like another tag in it is none. */
  let raw: string | undefined;
  let isComplete = true;
  const nameAt = (start: number, end: number) => html.slice(start, end).toLowerCase();
  const count = (name: string, change: number) => counts.set(name, (counts.get(name) ?? 0) + change);
  const addValue = (text: string) => {
    if (ATTRIBUTES.has(attribute)) attributes[attribute] += text;
  };
  const onText = (text: string) => {
    for (const visitor of visitors) visitor.onText(text);
  };
  const onOpened = () => {
    if (raw !== undefined) return;
    if (!UNCOUNTED.has(tag)) {
      open.push(tag);
      count(tag, 1);
    }
    if (open.length > MAX_OPEN) {
      isComplete = false;
      tokenizer.pause();
      return;
    }
    for (const visitor of visitors) visitor.onOpened(tag, attributes, open.length);
  };
  const onClosed = (name: string) => {
    if (raw !== undefined && raw !== name) return;
    raw = undefined;
    // An end tag also ends what is open inside its element; without an element, it ends nothing.
    while ((counts.get(name) ?? 0) > 0) {
      const ended = open.pop() ?? name;
      count(ended, -1);
      if (ended === name) break;
    }
    for (const visitor of visitors) visitor.onClosed(name, open.length);
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname: (start, end) => {
        tag = nameAt(start, end);
        attributes = {};
      },
      onattribname: (start, end) => {
        const name = nameAt(start, end);
        // The first of several counts.
        attribute = name in attributes ? '' : name;
        if (ATTRIBUTES.has(attribute)) attributes[attribute] = '';
      },
      onattribdata: (start, end) => addValue(html.slice(start, end)),
      onattribentity: (code) => addValue(String.fromCodePoint(code)),
      onattribend: ignore,
      onopentagend: onOpened,
      onselfclosingtag: () => {
        onOpened();
        // HTML ignores the `/` outside of other languages, whose elements it ends.
        if (isXml || (counts.get('svg') ?? 0) + (counts.get('math') ?? 0) > 0) onClosed(tag);
        else if (RAW_TEXT.has(tag)) raw ??= tag;
      },
      ontext: (start, end) => onText(html.slice(start, end)),
      ontextentity: (code) => onText(String.fromCodePoint(code)),
      onclosetag: (start, end) => onClosed(nameAt(start, end)),
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return isComplete;
}
