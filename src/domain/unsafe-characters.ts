/** Controls, tags, and characters without width or use (U+200C, U+200D and U+180E have a use). */
const UNSAFE_CHARACTERS =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu;

/** Colours, cursor movements and titles: without their escape character, the parameters would be left in the text. */
const TERMINAL_SEQUENCES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)/g;

/** A text without characters that hide or reorder text or control a terminal, and without lone surrogates. */
export function withoutUnsafeCharacters(text: string): string {
  return text.toWellFormed().replace(TERMINAL_SEQUENCES, '').replace(UNSAFE_CHARACTERS, '');
}
