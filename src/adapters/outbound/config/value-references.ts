import type { ValueReference } from '../../../application/ports/values.ts';
import { commandWords, endOfReference, unquoted } from '../../../domain/values/command-words.ts';
import { MASK } from '../../../domain/values/redaction.ts';
import { expandPath } from '../files/local-files.ts';
import { matching, type ValueKind, yamlOnly } from './kinds.ts';

export const DOLLAR = '\u0024{';
const [OF_FILE, OF_COMMAND] = [`${DOLLAR}file:`, `${DOLLAR}command:`];

const NO_PATH = `expected the path of a file, such as ${OF_FILE}~/.config/token}`;
const NO_COMMAND = `expected a command, such as ${OF_COMMAND}op read op://dev/github/token}, with each quotation closed`;

/** The index of the `}` that ends the reference to a file or a command that begins at this index; undefined if there is none. */
export function endOfValue(text: string, at: number): number | undefined {
  const start = [OF_FILE, OF_COMMAND].find((one) => text.startsWith(one, at));
  return start === undefined ? undefined : endOfReference(text, at + start.length);
}

/** The value that a written reference names. Paths start, and commands run, in `folder`. */
export function toValueReference(
  written: string,
  folder = process.cwd(),
): ValueReference | { readonly problem: string } {
  if (!written.startsWith(OF_FILE))
    return toCommand(written.slice(OF_COMMAND.length, -1), folder) ?? { problem: NO_COMMAND };
  const path = unquoted(written.slice(OF_FILE.length, -1).trim());
  return path === '' ? { problem: NO_PATH } : { kind: 'file', path: expandPath(path, folder) };
}

type Command = Extract<ValueReference, { kind: 'command' }>;

/** The command of a text; undefined without a word, or if a quotation is not closed. The path of a program in the home folder may begin with `~`. */
export function toCommand(text: string, folder: string): Command | undefined {
  const words = commandWords(text);
  return words?.[0] ? commandOf(words, folder) : undefined;
}

/** The command of these words, which begin with its program. */
export function commandOf([name = '', ...args]: readonly string[], folder: string): Command {
  return { kind: 'command', words: [name.startsWith('~/') ? expandPath(name) : name, ...args], folder };
}

/** Whether a text is one reference to a file or a command, and nothing else. */
export function isOneValue(text: string): boolean {
  const trimmed = text.trim();
  return trimmed !== '' && endOfValue(trimmed, 0) === trimmed.length - 1;
}

/** A text for display, with only the first word of each command. `isSecret`: the rest of the text is masked, but for the scheme of a header. */
export function shownText(text: string, isSecret: boolean): string {
  const shown: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const end = endOfValue(text, at);
    if (end === undefined) continue;
    shown.push(text.slice(from, at), shownReference(text.slice(at, end + 1)));
    from = end + 1;
    at = end;
  }
  if (shown.length === 0) return isSecret ? MASK : text;
  shown.push(text.slice(from));
  const isPlain = (part: string, index: number) => index % 2 === 1 || part === '' || (index === 0 && SCHEME.test(part));
  return shown.map((part, index) => (!isSecret || isPlain(part, index) ? part : MASK)).join('');
}

/** The scheme of the header `Authorization`, before its credentials. */
const SCHEME = /^[A-Za-z]+ $/;

function shownReference(written: string): string {
  if (written.startsWith(OF_FILE)) return written;
  const [name, ...args] = commandWords(written.slice(OF_COMMAND.length, -1)) ?? [''];
  return `${OF_COMMAND}${name}${args.length > 0 ? ' …' : ''}}`;
}

/** A secret that the configuration names: a variable, a file or a command. */
export interface SecretReference {
  /** The reference as it is written. */
  readonly written: string;
  readonly source: { readonly kind: 'variable'; readonly name: string } | ValueReference;
}

const REFERENCE_TO_VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** Only a reference to a secret, which is then never in the file. */
export const secretReference: ValueKind<SecretReference> = {
  ...yamlOnly(
    'only a reference: \u0024{NAME} with the name of a variable, \u0024{file:PATH} or \u0024{command:WORDS}',
    { anyOf: [matching(REFERENCE_TO_VARIABLE), matching(/^\$\{(?:file|command):.+\}$/)] },
    (value, { where, folder, report }) => {
      const written = typeof value === 'string' ? value.trim() : '';
      const [, name] = REFERENCE_TO_VARIABLE.exec(written) ?? [];
      if (name !== undefined) return { written, source: { kind: 'variable' as const, name } };
      if (!isOneValue(written)) return undefined;
      const source = toValueReference(written, folder);
      if ('problem' in source) report(where, source.problem);
      return 'problem' in source ? undefined : { written, source };
    },
  ),
  isSecret: true,
};
