/** The scripts that write no blanks between words. */
const CJK = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー、。々〇';
const HAS_CJK = new RegExp(`[${CJK}]`, 'u');
const BLANK_BY_CJK = new RegExp(`(?<=[${CJK}]) | (?=[${CJK}])`, 'gu');
const NOTE_BY_CJK = new RegExp(`(?<=[${CJK}]) [※†‡]?\\d{1,3} (?=[${CJK}])`, 'gu');
/** The mark of a note in brackets, as encyclopedias have it. */
const NOTE =
  /\[(?:\d{1,3}|[a-z]|(?:note|nb|注|註|注釈)\s?\d{1,3}|citation needed|clarification needed|要出典|要説明)\]/gi;

/** Replaces the forms of a text that make no difference to a quotation: of blanks, quotation marks, dashes, widths, emphasis and marks of notes. */
export function quoteForm(text: string): string {
  return (
    text
      .replace(/[\u00AD\u200B-\u200D\u2060\uFEFF]/g, '')
      .normalize('NFKC')
      .replace(/\s+/g, ' ')
      .replace(/~~|[*_`]/g, '')
      .replace(NOTE, '')
      .replace(/[’‘‛′]/g, "'")
      // What is left is an apostrophe.
      .replace(/["“”„‟‚«»‹›「」『』〝〞〟]|(?<![\p{L}\p{N}])'|'(?![\p{L}\p{N}])/gu, '')
      .replace(/[‐-―−⸺⸻〜~]/g, '-')
      // Japanese is written with either pair of marks.
      .replaceAll('、', ',')
      .replaceAll('。', '.')
      .replace(/ {2,}/g, ' ')
      .replace(/ ?-+ ?/g, '-')
      .replace(/ (?=[,.;:!?)\]%])|(?<=[([]) /g, '')
      .replace(BLANK_BY_CJK, '')
  );
}

/** A text of a page without the raised numbers of notes, which blanks separate. */
export function withoutNotes(text: string): string {
  return text
    .replace(/ [※†‡]?\d{1,3} ?(?= [,.;:!?)])| [※†‡]?\d{1,3} (?=[,.;:!?)])/g, '')
    .replace(/(?<=[.!?;,”"’]) [※†‡]?\d{1,3} (?=["“'‘(]?\p{L})/gu, ' ')
    .replace(NOTE_BY_CJK, '');
}

/** Whether a text is written in Japanese characters, of which fewer say as much. */
export function isJapaneseScript(text: string): boolean {
  return HAS_CJK.test(text);
}
