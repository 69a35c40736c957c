/** How a person starts this program in any folder: the program, and the options that decide which servers there are. */
export interface OwnCommand {
  readonly program: string;
  /** After a space; or ''. */
  readonly options: string;
}

/** The program as it is installed. Clients on other machines need not see more. */
export const INSTALLED: OwnCommand = { program: 'openai-responses-mcp', options: '' };

/** A command of this program, such as `tools --diff`, as it is advised. */
export function advised(words: string, { program, options } = INSTALLED): string {
  return `${program} ${words}${options}`;
}

/** Quotes a word for a shell. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
