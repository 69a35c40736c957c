import { bareUrls } from '../values/bare-urls.ts';
import { PlacedText } from './placed-text.ts';
import type { TextBlock } from './text-blocks.ts';
import type { TextPiece } from './text-piece.ts';
import { linkedPage, type SkippedUrl, type SkipReason, type WrittenUrl } from './written-url.ts';

/** Characters that represent links, and enclose their labels, while a text is split into sentences. */
export const MARKS = /[\uE000-\uE003]/g;

/** What a mark represents: a link, or references to notes, which have other links. */
export interface Mark {
  readonly at: number;
  readonly url?: string;
  /** Whether the URL has no label. */
  readonly isBare?: boolean;
  /** Whether its label has no text, such as that of a badge. */
  readonly isEmpty?: boolean;
  readonly names?: readonly string[];
}

/** A block as one text in which marks represent links, with the place of each of its characters. */
export interface MarkedText {
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly skipped: readonly SkippedUrl[];
  /** The places of code within its lines. */
  readonly codes: readonly { readonly at: number; readonly end: number }[];
  readonly placeOf: (index: number) => number;
}

/** Whether a note has this name. */
type IsNote = (name: string) => boolean;

/** Marks the links of a block. */
export function markedText(block: TextBlock, isNote: IsNote): MarkedText {
  const marking = new Marking(isNote);
  for (const piece of block.pieces) marking.add(piece);
  return marking.end();
}

class Marking {
  readonly #isNote: IsNote;
  readonly #out = new PlacedText();
  readonly #marks: Mark[] = [];
  readonly #skipped: SkippedUrl[] = [];
  readonly #codes: { readonly at: number; readonly end: number }[] = [];
  /** The text since the last link. */
  #run = new PlacedText();
  #link: (WrittenUrl & { readonly label: PlacedText; readonly notes: Mark[] }) | undefined;

  constructor(isNote: IsNote) {
    this.#isNote = isNote;
  }

  add(piece: TextPiece): void {
    switch (piece.kind) {
      case 'text':
        this.#text(piece.text, piece.at);
        return;
      case 'break':
        this.#text('\n', piece.at);
        return;
      case 'cell':
        this.#text('\t', piece.at);
        return;
      case 'code':
        if (!piece.isInline || piece.text.includes('://')) {
          this.#skipIn(piece.text, piece.at, 'code');
          return;
        }
        this.#codes.push({ at: piece.at, end: piece.at + piece.text.length });
        this.#text(piece.text, piece.at);
        return;
      case 'hidden':
        this.#skipIn(piece.text, piece.at, piece.reason);
        return;
      case 'image':
        this.#skipped.push({ url: piece.url, at: piece.at, reason: 'image' });
        this.#text(' ', piece.at);
        return;
      case 'note':
        this.#note({ at: piece.at, names: piece.names });
        return;
      case 'link':
        this.#endLink();
        this.#endRun();
        this.#link = { url: piece.url, at: piece.at, label: new PlacedText(), notes: [] };
        return;
      case 'link_end':
        this.#endLink();
        return;
      default:
    }
  }

  end(): MarkedText {
    this.#endLink();
    this.#endRun();
    const out = this.#out;
    const placeOf = (index: number) => out.placeOf(index);
    return { text: out.text, marks: this.#marks, skipped: this.#skipped, codes: this.#codes, placeOf };
  }

  #text(text: string, at: number): void {
    (this.#link?.label ?? this.#run).add(text.replace(MARKS, ' '), at);
  }

  #note(mark: Mark): void {
    if (this.#link !== undefined) {
      this.#link.notes.push(mark);
      return;
    }
    this.#endRun();
    this.#mark(mark);
  }

  #skipIn(text: string, at: number, reason: SkipReason): void {
    this.#text(' ', at);
    for (const { start, end } of bareUrls(text))
      this.#skipped.push({ url: text.slice(start, end), at: at + start, reason });
  }

  #mark(mark: Mark): void {
    this.#out.add(`\uE000${this.#marks.push(mark) - 1}\uE001`, mark.at);
  }

  /** Adds the text since the last link, in which bare URLs are links, too. */
  #endRun(): void {
    const run = this.#run;
    this.#run = new PlacedText();
    const { text } = run;
    let read = 0;
    for (const { start, end, isPlaceholder } of bareUrls(text)) {
      this.#withReferences(run, read, start);
      read = end;
      const written = { url: text.slice(start, end), at: run.placeOf(start) };
      if (isPlaceholder) this.#skipped.push({ ...written, reason: 'placeholder' });
      else this.#mark({ ...written, isBare: true });
    }
    this.#withReferences(run, read, text.length);
  }

  /** Adds a part of a text, in which the numbers of sources are links. */
  #withReferences(run: PlacedText, start: number, end: number): void {
    const text = run.text.slice(start, end);
    let read = start;
    for (const { index, 0: shown, groups = {} } of text.matchAll(REFERENCE)) {
      const names = namesIn(groups, text.slice(Math.max(0, index - 3), index)).filter(
        (name) => this.#isNote(name) || ((groups.ids ?? groups.bare) !== undefined && NUMBER.test(name)),
      );
      if (names.length === 0) continue;
      this.#out.addPart(run, read, start + index);
      for (const name of names) this.#mark({ at: run.placeOf(start + index), names: [name] });
      read = start + index + shown.length;
    }
    this.#out.addPart(run, read, end);
  }

  /** Ends a link. Its label stays before the mark, unless it only names the page. */
  #endLink(): void {
    const link = this.#link;
    if (link === undefined) return;
    this.#link = undefined;
    const { url, at, label, notes } = link;
    const page = linkedPage(url);
    const note = page.kind === 'skipped' ? this.#noteOf(url, label.text) : undefined;
    const isNamed = note === undefined && !(page.kind === 'page' && NAME_OF_PAGE.test(label.text.trim()));
    if (page.kind === 'skipped' && note === undefined) this.#skipped.push({ url, at, reason: page.reason });
    if (isNamed && page.kind === 'page') this.#out.add('\uE002', at);
    if (isNamed) this.#out.addPart(label, 0, label.text.length);
    if (isNamed && page.kind === 'page') this.#out.add('\uE003', at);
    if (note !== undefined) this.#mark({ at, names: [note] });
    else if (page.kind === 'page') this.#mark({ at, url, ...(label.text.trim() === '' && { isEmpty: true }) });
    for (const note of notes) this.#mark(note);
  }

  /** The note to which a link within the text leads, rather than to a section. */
  #noteOf(url: string, label: string): string | undefined {
    if (!url.startsWith('#')) return undefined;
    return this.#isNote(url) ? url : /^\W{0,3}(\d{1,3})\W{0,3}$/.exec(label)?.[1];
  }
}

/** A label that only names the page: a number, a host or the URL itself. `42%`, `$42` and `9.4` are words of the sentence. */
const NAME_OF_PAGE =
  /^(?:[^\w%％‰$€£¥￥₹°]{0,20}\d{1,3}[^\w%％‰$€£¥￥₹°]{0,20}|[\w-]{1,100}\.(?:[\w-]{1,100}\.){0,9}[a-z]\S{0,300}|https?:.*)?$/is;

const NUMBER = /^\d{1,3}$/;

/** Abbreviations whose full stop ends no sentence only before a number. */
export const BEFORE_NUMBER =
  '\\b(?:pp?|[Cc]h|[Cc]hap|[Ss]ec|[Aa]rt|[Pp]ara|[Ff]igs?|[Vv]ols?|[Nn]os?|[Nn]r|[Ee]qs?|[Tt]ab|[Aa]pp|eds?|c|al|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\.';

/** References to notes in a text: `[1, 2]`, `【1】`, `^1^`, `¹⁻³`, `※1`, `①`, `(1)`, `*1`, 1) after Japanese words, and a number after the end of a sentence. */
export const REFERENCE = new RegExp(
  [
    '\\^?[[［【](?<ids>\\^?[^\\][［］【】\\n]{1,60})[\\]］】]\\^?',
    '\\^(?<caret>\\d{1,3}(?:[,–-] ?\\d{1,3}){0,9})\\)?\\^',
    '(?<raised>[⁰¹²³⁴-⁹]{1,3}(?:[⁻–-][⁰¹²³⁴-⁹]{1,3})?)⁾?',
    '※\\s?(?<mark>[\\d０-９]{1,3})',
    '(?<circled>[①-⑳])',
    '[(（](?<round>[\\d０-９]{1,3})[)）]',
    '(?<![*\\d])(?<star>\\*\\d{1,2})(?![*\\d])',
    '(?=[\\d０-９])(?<=[ぁ-んァ-ヶ一-龠])(?<half>[\\d０-９]{1,3})[)）](?=[。、])',
    `(?=\\d)(?<=\\p{Ll}{3}[.!?]["”’)]?)(?<!${BEFORE_NUMBER})(?<bare>\\d{1,3})(?=\\s{1,9}\\p{Lu}|\\s{0,9}$)`,
  ].join('|'),
  'gu',
);

/** The raised digits, from 0 to 9. */
export const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** The names of notes that a reference has. `before`: the text before it. */
export function namesIn(groups: Readonly<Record<string, string | undefined>>, before: string): readonly string[] {
  const { ids, caret, raised, circled } = groups;
  if (ids !== undefined) return namesOf(ids);
  // `m²` is a unit, and 10⁶ a power.
  if ((raised ?? caret) !== undefined && /(?:^|[^a-z])[kcmd]?m$|(?:^|\D)10$|⁻$/i.test(before)) return [];
  if (raised !== undefined)
    return inRange([...raised].map((sign) => (/[⁻–-]/.test(sign) ? '-' : RAISED.indexOf(sign))).join(''));
  if (caret !== undefined) return namesOf(caret);
  if (circled !== undefined) return [`${circled.charCodeAt(0) - 0x245f}`];
  return [noteName(groups.mark ?? groups.round ?? groups.star ?? groups.half ?? groups.bare ?? '')];
}

function namesOf(shown: string): readonly string[] {
  return [...new Set(shown.split(/[,、，;]/).flatMap((name) => inRange(noteName(name))))];
}

/** The name of a note, which chats and authors write with more: `^1^`, `1†source`, `citation:1`, `1: 45`, `１`. */
export function noteName(shown: string): string {
  const name = shown.trim().normalize('NFKC').toLowerCase();
  const [, after, before] =
    /^(?:citation: ?(\d{1,3})|\^?(\d{1,3})(?:\^|†.*|: ?pp?\..*|: \d[\d–-]{0,8}))$/.exec(name) ?? [];
  return after ?? before ?? name;
}

/** `1-3` refers to three notes. */
function inRange(name: string): readonly string[] {
  const [, first = '', last = ''] = /^(\d{1,3})\s?[-–]\s?(\d{1,3})$/.exec(name) ?? [];
  const length = Number(last) - Number(first) + 1;
  if (first === '' || length < 2 || length > 10) return [name];
  return Array.from({ length }, (_, index) => `${Number(first) + index}`);
}
