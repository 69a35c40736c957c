import { withoutEnd } from './clean-text.ts';

/** A URL in a text, from its first character to the one after its last. */
export interface BareUrl {
  readonly start: number;
  readonly end: number;
  /** Whether a placeholder follows, such as `{id}`: it is only the pattern of a URL. */
  readonly isPlaceholder: boolean;
}

const START = /https?:\/\//gi;
/** Characters that end a URL: of Markdown, brackets and quotation marks of all kinds, East Asian punctuation, long dashes, arrows, pictures, and characters that are not visible. */
const END =
  /[\s<>"`\\^|{}（）「」『』【】〈〉《》［］〔〕｛｝＜＞“”‘’«»‹›„‚、。，；：！？…—―←-⇿｡､｢｣～〜\p{Extended_Pictographic}\p{Cc}\p{Cf}\p{Co}]/u;
/** Punctuation that belongs to the sentence, as in GFM. */
const PUNCTUATION = /[.,;:!?*_~'"]/;

/** The bare URLs of a text, by the rules of GFM, and with the ends that typographic and East Asian texts need. */
export function bareUrls(text: string): readonly BareUrl[] {
  const urls: BareUrl[] = [];
  let read = 0;
  for (const { index: start, 0: scheme } of text.matchAll(START)) {
    if (start < read) continue;
    const from = start + scheme.length;
    const stop = endOf(text, from);
    if (isPlaceholderAt(text, stop)) {
      read = stop;
      while (read < text.length && !/[\s)\]"'`*（）「」【】”…。、]/.test(text.charAt(read))) read += 1;
      urls.push({ start, end: read, isPlaceholder: true });
    } else {
      const end = from + trimmed(text.slice(from, stop)).length;
      read = Math.max(end, from);
      if (end > from) urls.push({ start, end, isPlaceholder: false });
    }
  }
  return urls;
}

/** Whether a URL continues as in `{id}`, `${NAME}` or `<owner>`. */
function isPlaceholderAt(text: string, at: number): boolean {
  return /^(?:\$?\{|<[a-z][\w -]{0,40}>)/i.test(text.slice(at, at + 50));
}

/** Maximum length of a bracket in a URL. One that does not close ends the URL, and what follows is read again. */
const MAX_BRACKET = 100;

/** The end of the characters that a URL may have. Brackets in it are balanced; square ones belong to a query or an address. */
function endOf(text: string, from: number): number {
  const open: number[] = [];
  let isQuery = false;
  let at = from;
  for (; at < text.length; at += 1) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    const next = text.charAt(at + 1);
    if (at - (open[0] ?? at) > MAX_BRACKET) break;
    if (END.test(character)) break;
    // Two URLs of a list, rather than one URL in another.
    if ((character === ',' || character === ';') && /^https?:/i.test(text.slice(at + 1, at + 7))) break;
    if (character === '?') isQuery = true;
    else if (character === '(') open.push(at);
    else if (character === ')' && open.pop() === undefined) break;
    else if ((character === '$' && next === '{') || (character === '*' && next === '*')) break;
    else if (character === "'" && !(/\w/.test(text.charAt(at - 1)) && /\w/.test(next))) break;
    else if (/[[\]]/.test(character) && !isQuery && !isAddress(text, from, at)) break;
  }
  return Math.min(at, open[0] ?? at);
}

/** Whether a square bracket belongs to an IPv6 address, with which a URL begins. */
function isAddress(text: string, from: number, at: number): boolean {
  return text.charAt(from) === '[' && /^\[[\da-f:.]{0,45}\]?$/i.test(text.slice(from, Math.min(at + 1, from + 50)));
}

/** A URL without the Japanese words and the punctuation that follow it. No Japanese name begins with を. */
function trimmed(url: string): string {
  const words = /(?:(?<=\w)(?:[ぁ-ん]|参照|参考|出典)|(?<=\/)を)/.exec(url);
  const end = withoutEnd(url.slice(0, words?.index), PUNCTUATION);
  // The query was left open, as in `[http://a.com/?b]`.
  return end.endsWith(']') && !end.includes('[') ? trimmed(end.slice(0, -1)) : end;
}
