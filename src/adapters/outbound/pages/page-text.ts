import { TextDecoder } from 'node:util';
import type { PageText } from '../../../domain/evidence/evidence.ts';
import { DateCollector } from './date-candidates.ts';
import { type ElementVisitor, visitElements } from './page-elements.ts';

/** Maximum numbers of characters that are kept of a page. */
const MAX_VISIBLE = 300_000;
const MAX_OTHER = 100_000;

/** Elements whose text is not visible. */
const HIDDEN = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'select']);

/** Elements that a head may contain. Any other element ends the head. */
const IN_HEAD = new Set(['head', 'title', 'meta', 'link', 'base', ...HIDDEN]);

/** Elements inside a line of text: they do not separate words. */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);

/** Elements inside a line whose text does not belong to the number before it: the mark of a footnote, or an index. */
const SEPARATE = new Set(['sup', 'sub']);

/** The names of `<meta>` that describe a page. */
const DESCRIPTIONS = /^\s*(?:description|og:description|og:title|article:published_time)\s*$/i;

/** Texts of which each line is a record. */
const LINES = /^\s*(?:text\/(?:csv|tab-separated-values)|application\/(?:[\w.-]+\+)?json)/i;

/** The text of a page, and its possible dates of publication. `isCut`: only the beginning of the page was received. */
export function readPage(page: string, contentType: string, isCut: boolean) {
  const text = new TextCollector();
  const dates = new DateCollector();
  let isComplete = true;
  let isData = LINES.test(contentType);
  if (isData) {
    for (const line of page.split('\n')) {
      text.breakLine();
      text.onText(line);
    }
  } else if (/^\s*text\/(?:plain|markdown)/i.test(contentType)) {
    addPlain(page, text);
    isData = isTable(page);
  } else isComplete = visitElements(page, [text, dates], /^\s*application\/xhtml/i.test(contentType));
  const { hasScripts, asksForPassword } = text;
  const result = { ...text.result(isCut || !isComplete), ...(isData && { isData }) };
  return { candidates: dates.candidates, text: result, hasScripts, asksForPassword };
}

/** Whether a plain text has at least as many numbers as words: servers of code send CSV as plain text. */
function isTable(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return count(/\d+/g) >= Math.max(1, count(/\p{L}+/gu));
}

/** The text of a PDF, in which form feeds end pages, with the places at which they begin. */
export function readPdf(document: string, isCut: boolean) {
  const pages = document.replace(/\f$/, '').split('\f').map(plainText);
  let length = 0;
  const starts = pages.map((page) => {
    const start = length;
    length += page.length + 1;
    return start;
  });
  const visible = pages.join('\n');
  const text: PageText = {
    visible: visible.slice(0, MAX_VISIBLE),
    other: [],
    isCut: isCut || visible.length > MAX_VISIBLE,
    pages: starts,
  };
  return { candidates: undefined, text, hasScripts: false, asksForPassword: false };
}

/** A text without elements. Lines of a paragraph belong together; those of a list or a table do not. */
function plainText(page: string): string {
  const text = new TextCollector();
  addPlain(page, text);
  return text.result(false).visible;
}

function addPlain(page: string, text: TextCollector): void {
  for (const line of page.split('\n')) {
    if (/^\s*(?:$|[-*+|#>•]|\d+[.)]\s)/.test(line)) text.breakLine();
    text.onText(`${line} `);
  }
}

/** Collects the text that a person sees, and the texts that count for figures only. */
class TextCollector implements ElementVisitor {
  /** Whether the page may be empty because scripts fill it. */
  hasScripts = false;
  asksForPassword = false;
  readonly #visible: string[] = [];
  readonly #other: string[] = [];
  #visibleLength = 0;
  #otherLength = 0;
  /** The last character of the visible text. */
  #last = '\n';
  /** The depth of the outermost hidden element that is open. */
  #hiddenAt = Number.POSITIVE_INFINITY;
  #isInHead = false;
  #isTitle = false;

  result(isCut: boolean): PageText {
    const visible = this.#visible.join('').replaceAll(' \n', '\n').trim();
    const isLong = this.#visibleLength > MAX_VISIBLE || this.#otherLength > MAX_OTHER;
    return { visible: visible.slice(0, MAX_VISIBLE), other: this.#other, isCut: isCut || isLong };
  }

  onOpened(name: string, attributes: Readonly<Record<string, string>>, depth: number): void {
    const { content, datetime, alt, property = '', name: named = '' } = attributes;
    this.#isInHead = name === 'head' || (this.#isInHead && IN_HEAD.has(name));
    this.#isTitle = name === 'title';
    if (name === 'script') this.hasScripts = true;
    if (name === 'input' && /^\s*password\s*$/i.test(attributes.type ?? '')) this.asksForPassword = true;
    if (SEPARATE.has(name)) this.#add(' ');
    if (HIDDEN.has(name)) this.#hiddenAt = Math.min(this.#hiddenAt, depth);
    if (!INLINE.has(name)) this.breakLine();
    if (name === 'meta' && (DESCRIPTIONS.test(property) || DESCRIPTIONS.test(named))) this.#addOther(content);
    if (name === 'time') this.#addOther(datetime);
    if (name === 'img') this.#addOther(alt);
  }

  onClosed(name: string, depth: number): void {
    if (depth < this.#hiddenAt) this.#hiddenAt = Number.POSITIVE_INFINITY;
    if (name === 'head') this.#isInHead = false;
    this.#isTitle = false;
    if (SEPARATE.has(name)) this.#add(' ');
    if (!INLINE.has(name)) this.breakLine();
  }

  onText(text: string): void {
    if (this.#hiddenAt !== Number.POSITIVE_INFINITY) return;
    if (this.#isTitle) this.#addOther(text);
    else if (!this.#isInHead) this.#add(text);
  }

  #add(text: string): void {
    if (this.#visibleLength > MAX_VISIBLE) return;
    // A soft hyphen is not visible.
    const line = text.replaceAll('\u00AD', '').replace(/\s+/g, ' ');
    const added = line.startsWith(' ') && /\s/.test(this.#last) ? line.slice(1) : line;
    if (added === '') return;
    this.#visible.push(added);
    this.#visibleLength += added.length;
    this.#last = added.slice(-1);
  }

  breakLine(): void {
    if (this.#last === '\n' || this.#visibleLength > MAX_VISIBLE) return;
    this.#visible.push('\n');
    this.#visibleLength += 1;
    this.#last = '\n';
  }

  #addOther(text = ''): void {
    if (text === '' || this.#otherLength > MAX_OTHER) return;
    this.#otherLength += text.length;
    this.#other.push(text.slice(0, MAX_OTHER));
  }
}

/** A page that only checks who visits says little else. */
const MAX_CHARS = 1500;
/** How such pages say what they do, with the status 200. */
const CHECKS = [
  /\b(?:verify|verifying|confirm|prove|checking|making sure)\b.{0,40}\b(?:(?:you|you're|we're|visitor)\b.{0,20}\b(?:human|person|robots?|bots?)|your browser|site connection is secure)\b/i,
  /\bare you (?:a )?(?:robot|human)\b|\bnot a (?:robot|bot)\b|\brobot check\b/i,
  /\benable (?:javascript and cookies|cookies and javascript)\b|\bunusual (?:traffic|activity) from your\b|\bcomplete the (?:security check|captcha)\b/i,
  /\bincapsula incident id\b|\bcloudflare ray id\b|\bddos protection by\b/i,
  /(?:人間|ロボット|ボット)(?:である|でない|ではない)(?:こと|か)(?:を|どうか)|ブラウザを確認(?:して|中)/,
];

/** Whether the text of a page asks whether a person visits it, in place of the page. */
export function isRobotCheck(visible: string): boolean {
  if (visible.length > MAX_CHARS) return false;
  const text = visible.replace(/\s+/g, ' ').replaceAll('’', "'");
  return CHECKS.some((check) => check.test(text));
}

/** Number of bytes at the start of a page that may name its encoding (WHATWG HTML, 13.2.3.2). */
const SNIFFED_BYTES = 1024;

/** Decodes a page as browsers do: a byte order mark, the header, or a `<meta>` names the encoding; the default is UTF-8. */
export function decoderFor(start: Uint8Array, contentType: string): TextDecoder {
  const text = String.fromCharCode(...start.subarray(0, SNIFFED_BYTES));
  const mark = text.startsWith('\u00FE\u00FF') ? 'utf-16be' : text.startsWith('\u00FF\u00FE') ? 'utf-16le' : undefined;
  const named = CHARSET.exec(contentType)?.[1] ?? /<meta\b[^>]*?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(text)?.[1];
  try {
    return new TextDecoder(text.startsWith(UTF_8_MARK) ? 'utf-8' : (mark ?? named));
  } catch {
    return new TextDecoder();
  }
}

const CHARSET = /\bcharset\s*=\s*["']?([\w:.-]+)/i;
const UTF_8_MARK = '\u00EF\u00BB\u00BF';
