import { Tokenizer } from 'htmlparser2';
import { RAISED } from '../../../domain/check/marked-text.ts';
import type { BlockRole, TextPiece } from '../../../domain/check/text-piece.ts';

/** Elements whose text a reader does not see, or that is no prose, with the reason why their URLs are skipped. */
const HIDDEN = new Map<string, 'code' | 'navigation'>([
  ...['script', 'style', 'template', 'noscript', 'svg', 'math', 'head', 'pre', 'code'].map(
    (name) => [name, 'code'] as const,
  ),
  ...['nav', 'footer'].map((name) => [name, 'navigation'] as const),
]);
/** Elements of a page that a text in Markdown uses for prose, or cannot have. */
const ONLY_ON_PAGES = new Set(['nav', 'footer', 'head', 'noscript']);
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite data del dfn em font i ins kbd label mark nobr q rb rp rt ruby s samp small span strike strong sub sup time tt u var wbr img input button source track area picture video audio iframe object embed script style template noscript svg math code'.split(
    ' ',
  ),
);
const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead title tr ul link meta base'.split(
    ' ',
  ),
);
/** Any other element ends the head of a page. */
const IN_HEAD = new Set('head title meta link base script style template noscript'.split(' '));
/** Attributes with the URL of an embedded file. */
const EMBEDDED = new Set(['src', 'srcset', 'poster', 'data']);

interface Tag {
  readonly name: string;
  readonly at: number;
  readonly attributes: Map<string, string>;
}

/**
 * Reads HTML, complete or in fragments between which a text in Markdown goes on, tag by tag. No tree is built, because fragments are not nested reliably,
 * and because the time for each tag does not depend on those that are open.
 */
export class HtmlReader {
  readonly #add: (piece: TextPiece) => void;
  readonly #isPage: boolean;
  #hidden: { readonly name: string; depth: number } | undefined;
  #isLink = false;
  /** Whether `<sup>` has just begun. */
  #isRaised = false;
  #quotations = 0;
  /** Where the outermost open quotation begins. */
  #quote = 0;
  /** The number of the last item of each open list; undefined for a list without numbers. */
  readonly #lists: (number | undefined)[] = [];

  /** `isPage`: the text is HTML alone, whose blocks begin paragraphs. */
  constructor(add: (piece: TextPiece) => void, isPage: boolean) {
    this.#add = add;
    this.#isPage = isPage;
  }

  /** Adds a text, which is code or hidden within some elements. */
  text(text: string, at: number): void {
    const { name = '' } = this.#hidden ?? {};
    const reason = HIDDEN.get(name);
    if (reason === undefined) this.#add({ kind: 'text', text: this.#isRaised ? raised(text) : text, at });
    else if (name === 'code') this.#add({ kind: 'code', text, at, isInline: true });
    else this.#add({ kind: 'hidden', text, at, reason });
    this.#isRaised = false;
  }

  /** What is open ends where a block of Markdown begins. */
  endBlock(): void {
    this.#isLink = false;
    if (!this.#isPage) this.#hidden = undefined;
  }

  read(html: string, at: number): void {
    let name = '';
    let value: string | undefined;
    let tag: Tag | undefined;
    const slice = (start: number, end: number) => html.slice(start, end);
    const opened = (end: number) => {
      if (tag !== undefined) this.#opened(tag, html.slice(tag.at - at, end + 1));
      tag = undefined;
    };
    const tokenizer = new Tokenizer(
      { xmlMode: false, decodeEntities: true },
      {
        onopentagname: (start, end) => {
          tag = { name: slice(start, end).toLowerCase(), at: at + start - 1, attributes: new Map() };
        },
        onattribname: (start, end) => {
          [name, value] = [slice(start, end).toLowerCase(), undefined];
        },
        onattribdata: (start, end) => {
          value = (value ?? '') + slice(start, end);
        },
        onattribentity: (point) => {
          value = (value ?? '') + String.fromCodePoint(point);
        },
        onattribend: () => {
          if (tag !== undefined && !tag.attributes.has(name)) tag.attributes.set(name, value ?? '');
        },
        onopentagend: opened,
        onselfclosingtag: opened,
        onclosetag: (start, end) => this.#closed(slice(start, end).toLowerCase(), at + start),
        ontext: (start, end) => this.text(slice(start, end).replace(/\s/g, ' '), at + start),
        ontextentity: (point, end) => this.text(String.fromCodePoint(point), at + end),
        oncomment: (start, end, offset) =>
          this.#add({ kind: 'hidden', text: slice(start, end - offset), at: at + start, reason: 'comment' }),
        oncdata: () => {},
        ondeclaration: () => {},
        onprocessinginstruction: () => {},
        onend: () => {},
      },
    );
    tokenizer.write(html);
    tokenizer.end();
  }

  #opened({ name, at, attributes }: Tag, source: string): void {
    const hidden = this.#hidden;
    if (hidden?.name === name) hidden.depth += 1;
    for (const [attribute, value] of attributes) this.#embedded(attribute, value, at);
    if (hidden?.name === 'head' && !IN_HEAD.has(name)) this.#hidden = undefined;
    else if (hidden !== undefined) {
      const href = attributes.get('href');
      if (href !== undefined) this.text(` ${href} `, at);
      return;
    }
    if (HIDDEN.has(name) && (this.#isPage || !ONLY_ON_PAGES.has(name))) this.#hidden = { name, depth: 1 };
    this.#structure(name, at, attributes, source);
    const anchor = attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined);
    if (anchor !== undefined) this.#add({ kind: 'anchor', name: anchor, at });
    const href = attributes.get('href');
    if (href === undefined || name === 'link' || name === 'base') return;
    if (this.#isLink) this.#add({ kind: 'link_end', at });
    this.#add({ kind: 'link', url: href.trim().replace(/\s/g, '%20'), at });
    this.#isLink = name === 'a';
    if (!this.#isLink) this.#add({ kind: 'link_end', at });
  }

  #structure(name: string, at: number, attributes: ReadonlyMap<string, string>, source: string): void {
    if (name === 'br') {
      this.#add({ kind: 'break', at });
      return;
    }
    // The mark of a footnote does not belong to the number before it.
    if (this.#isRaised || name === 'sub') this.text(' ', at);
    this.#isRaised = name === 'sup';
    if (name === 'q') this.text('“', at);
    if (name === 'td' || name === 'th') {
      this.#add({ kind: 'cell', at });
      return;
    }
    if (name === 'ol') this.#lists.push(Number(attributes.get('start') ?? 1) - 1);
    if (name === 'ul' || name === 'menu') this.#lists.push(undefined);
    if (name === 'blockquote') this.#quotation(at, 1);
    if (BLOCKS.has(name)) {
      this.#block(name, at);
      return;
    }
    // In Markdown, `<owner>` is rather a placeholder than an element.
    if (!INLINE.has(name) && !this.#isPage && !name.includes('-')) this.text(source, at);
  }

  #closed(name: string, at: number): void {
    const hidden = this.#hidden;
    if (hidden !== undefined) {
      if (hidden.name === name) hidden.depth -= 1;
      if (hidden.depth === 0) this.#hidden = undefined;
      else return;
    }
    if (name === 'a' && this.#isLink) {
      this.#isLink = false;
      this.#add({ kind: 'link_end', at });
    }
    if (name === 'q') this.text('”', at);
    if (name === 'ol' || name === 'ul' || name === 'menu') this.#lists.pop();
    if (name === 'blockquote') this.#quotation(at, -1);
    if (BLOCKS.has(name) && name !== 'td' && name !== 'th' && name !== 'li') this.#block('p', at);
  }

  #block(name: string, at: number): void {
    const role: BlockRole =
      name === 'li' ? 'item' : name === 'tr' ? 'row' : /^h[1-6]$/.test(name) ? 'heading' : 'paragraph';
    const last = this.#lists.length - 1;
    const count = this.#lists[last];
    const number = name === 'li' && count !== undefined ? count + 1 : undefined;
    if (number !== undefined) this.#lists[last] = number;
    const isNested = name === 'li' ? last > 0 : last >= 0;
    this.#add({
      kind: 'block',
      role,
      at,
      isNested,
      ...(this.#quotations > 0 && { quote: this.#quote }),
      ...(number !== undefined && { number }),
    });
    this.#isLink = false;
  }

  #quotation(at: number, step: number): void {
    if (this.#quotations === 0) this.#quote = at;
    this.#quotations = Math.max(0, this.#quotations + step);
  }

  #embedded(attribute: string, value: string, at: number): void {
    if (attribute === 'href') return;
    if (!EMBEDDED.has(attribute)) {
      // A name of a vocabulary, or a value for scripts.
      if (/^\s*https?:/i.test(value)) this.#add({ kind: 'hidden', text: value, at, reason: 'code' });
      return;
    }
    const urls =
      attribute === 'srcset' ? value.split(',').map((one) => one.trim().split(/\s/)[0] ?? '') : [value.trim()];
    for (const url of urls) if (url !== '') this.#add({ kind: 'image', url, at });
  }
}

/** A text in `<sup>`: a number of the same length in raised digits, or a text apart from what precedes it. */
function raised(text: string): string {
  return /^\d{1,3}$/.test(text) ? text.replace(/\d/g, (digit) => RAISED.charAt(Number(digit))) : ` ${text}`;
}
