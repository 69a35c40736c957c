import { withoutHiddenCharacters } from './hidden-characters.ts';

/** Controls, and characters that reorder text. */
const UNSAFE_CHARACTERS =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB]/g;

/** Colours, cursor movements and titles: without their escape character, the parameters would be left in the text. */
const TERMINAL_SEQUENCES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)/g;

/** A text without characters that hide or reorder text or control a terminal, and without lone surrogates. */
export function withoutUnsafeCharacters(text: string): string {
  return withoutHiddenCharacters(text.toWellFormed().replace(TERMINAL_SEQUENCES, '').replace(UNSAFE_CHARACTERS, ''));
}
