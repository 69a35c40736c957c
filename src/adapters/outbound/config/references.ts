import { sep } from 'node:path';
import type { ValueReference } from '../../../application/ports/values.ts';
import { expandPath } from '../files/local-files.ts';
import type { Environment, NamedText } from '../network/environment.ts';
import type { Report } from './problems.ts';
import { DOLLAR, endOfValue, toValueReference } from './value-references.ts';

/** How a reference begins in each form. */
const OPENINGS = { dollar: DOLLAR, bare: DOLLAR, braces: '{', env: `${DOLLAR}env:`, none: undefined };

/** How the texts of a file refer to variables. */
export interface References {
  /**
   * `dollar`: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${file:PATH}` and `${command:WORDS}`; `bare`: `$NAME`, too; `braces`: `{env:NAME}` and
   * `{file:PATH}`; `env`: `${env:NAME}` alone; `none`: a text is what it says.
   */
  readonly form: keyof typeof OPENINGS;
  /** The words of other clients for folders, such as `workspaceFolder`. */
  readonly words?: Readonly<Record<string, string>>;
  /** The folder of the file, at which the paths of files start, and in which commands run. */
  readonly folder?: string;
  /** Whether `${command:NAME}` with one word is a command of the client itself. */
  readonly hasCommands?: boolean | undefined;
}

export interface ExpandContext {
  readonly environment: Environment;
  /** Receives what was read for references. */
  readonly expanded: NamedText[];
  readonly references: References;
  /** The value of a file or a command; undefined if it is not read yet, so that the reference stays as it is written. Without it, no such value may be used. */
  readonly valueFor?: ((reference: ValueReference, where: string) => string | undefined) | undefined;
  /** Without it, a variable that is not set is a problem. */
  readonly onUnset?: Report | undefined;
}

/** What a reference is: a text, or a variable, with what to do if it is not set. */
type Meaning =
  | { readonly text: string }
  | { readonly variable: string; readonly advice?: string }
  | { readonly value: ValueReference }
  | { readonly problem: string };

interface Reference {
  readonly open: string;
  readonly parts: readonly Part[];
}
/** `${file:...}` or `${command:...}`, as it is written. */
interface WrittenValue {
  readonly written: string;
}
type Part = string | Reference | WrittenValue;

/** Replaces the references of a text. A default may contain references, which are read only if they are needed. An empty variable counts as missing. */
export function expandReferences(text: string, where: string, context: ExpandContext, report: Report): string {
  const { form } = context.references;
  const { [form]: open } = OPENINGS;
  if (open === undefined || !text.includes(form === 'bare' ? '$' : open)) return text;
  const read = (parts: readonly Part[]): string =>
    parts
      .map((part) =>
        typeof part === 'string' ? withBareNames(part) : 'written' in part ? later(part) : replaced(part),
      )
      .join('');
  const later = ({ written }: WrittenValue) => {
    const { folder, hasCommands } = context.references;
    const reference = toValueReference(written, folder);
    if ('problem' in reference) report(where, reference.problem, written);
    else if (hasCommands && isOwnCommand(reference)) report(where, OF_VS_CODE, written);
    else return textFor(reference, written);
    return '';
  };
  const textFor = (reference: ValueReference, written: string) => {
    if (context.valueFor !== undefined) return context.valueFor(reference, where) ?? written;
    report(where, NOT_HERE, written);
    return '';
  };
  const withBareNames = (plain: string) => {
    if (form !== 'bare') return plain;
    return plain.replace(/\$([A-Za-z_]\w*)/g, (written, name: string) => {
      // Within a longer text, it may be no variable: `^a$b`.
      if (written === text) return variableOf(name, written, undefined);
      const value = context.environment[name];
      if (value) context.expanded.push([name, value]);
      return value || written;
    });
  };
  const variableOf = (name: string, written: string, fallback: (() => string) | undefined, advice?: string) => {
    const value = context.environment[name] || fallback?.();
    if (value !== undefined) context.expanded.push([name, value]);
    else if (context.onUnset === undefined)
      report(where, advice ?? notSet(name), advice === undefined ? undefined : written);
    else context.onUnset(where, notChecked(name));
    return value ?? (context.onUnset === undefined ? '' : written);
  };
  const replaced = (reference: Reference): string => {
    const [first = '', ...others] = reference.parts;
    const head = typeof first === 'string' ? first : '';
    const end = open === DOLLAR ? head.indexOf(':-') : -1;
    const isWhole = end >= 0 || others.length === 0;
    const meaning = isWhole ? meaningOf(end < 0 ? head : head.slice(0, end), context.references) : undefined;
    if (meaning === undefined) return `${reference.open}${read(reference.parts)}}`;
    if ('text' in meaning) return meaning.text;
    const written = writtenOf(reference);
    if ('value' in meaning) return textFor(meaning.value, written);
    if ('problem' in meaning) {
      report(where, meaning.problem, written);
      return '';
    }
    const fallback = end < 0 ? undefined : () => read([head.slice(end + 2), ...others]);
    return variableOf(meaning.variable, written, fallback, meaning.advice);
  };
  return read(partsOf(text, open));
}

export const notChecked = (name: string) =>
  `the environment variable ${name} is not set here, so that its value is not checked`;
const OF_VS_CODE = 'names a command of VS Code, which only VS Code can run; write a variable, or the path of a program';
const NOT_HERE = 'a value of a file or a command cannot be used here; write the value, or use a variable';

const notSet = (name: string) => `the environment variable ${name} is not set`;

/** The texts and references of a text, in one pass. What is not closed is text. */
function partsOf(text: string, open: string): readonly Part[] {
  const levels: Part[][] = [[]];
  let from = 0;
  const take = (to: number) => {
    if (to > from) levels.at(-1)?.push(text.slice(from, to));
  };
  for (let at = 0; at < text.length; at += 1) {
    const end = open === DOLLAR ? endOfValue(text, at) : undefined;
    if (end !== undefined) {
      take(at);
      from = end + 1;
      levels.at(-1)?.push({ written: text.slice(at, from) });
      at = end;
    } else if (text.startsWith(open, at)) {
      take(at);
      from = at + open.length;
      at = from - 1;
      levels.push([]);
    } else if (text[at] === '}' && levels.length > 1) {
      take(at);
      from = at + 1;
      const parts = levels.pop() ?? [];
      levels.at(-1)?.push({ open, parts });
    }
  }
  take(text.length);
  return levels.flatMap((parts, depth) => (depth === 0 ? parts : [open, ...parts]));
}

function writtenOf(part: Part): string {
  if (typeof part === 'string') return part;
  return 'written' in part ? part.written : `${part.open}${part.parts.map(writtenOf).join('')}}`;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What the text between the braces means; undefined if it is no reference. */
function meaningOf(text: string, { form, words, folder }: References): Meaning | undefined {
  if (form === 'env') return NAME.test(text.trim()) ? { variable: text.trim() } : undefined;
  const [, kind = '', rest = ''] = /^(\w+):(.*)$/s.exec(text) ?? [];
  if (kind === 'env') return NAME.test(rest) ? { variable: rest } : undefined;
  if (form === 'braces')
    return kind === 'file' ? { value: { kind, path: expandPath(rest.trim(), folder) } } : undefined;
  if (kind === 'input') return words === undefined ? { problem: NO_INPUTS } : inputOf(rest);
  if (words === undefined) return NAME.test(text) ? { variable: text } : undefined;
  const word = kind === 'workspaceFolder' ? kind : text;
  if (Object.hasOwn(words, word)) return { text: words[word] ?? '' };
  if (kind === 'config' || text.startsWith('user_config.')) return { problem: NOT_READ };
  return NAME.test(text) ? { variable: text } : undefined;
}

const NO_INPUTS = 'this program cannot ask for inputs; use an environment variable';
const NOT_READ =
  'this program does not read this reference; write the value, or \u0024{NAME} with the name of an environment variable';

/** `${input:some-id}`, for which VS Code asks, is the variable `INPUT_SOME_ID`. */
function inputOf(id: string): Meaning {
  const variable = `INPUT_${id.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()}`;
  return { variable, advice: `set the environment variable ${variable}, because this program cannot ask for inputs` };
}

/** Whether a command is written as VS Code writes the name of one of its own, which has no blank and no path. */
function isOwnCommand(reference: ValueReference): boolean {
  return reference.kind === 'command' && reference.words.length === 1 && !/[\\/]/.test(reference.words[0] ?? '');
}

/** The words of Cursor, VS Code, Claude Code and Gemini CLI for folders, and for the separator of paths. */
export function folderWords(folders: {
  readonly project: string;
  readonly ofFile: string;
  readonly home: string;
}): Readonly<Record<string, string>> {
  const { project, ofFile, home } = folders;
  return {
    workspaceFolder: project,
    workspaceRoot: project,
    workspacePath: project,
    workspaceFolderBasename: project.split(/[\\/]/).at(-1) ?? '',
    CLAUDE_PROJECT_DIR: project,
    CLAUDE_PLUGIN_ROOT: ofFile,
    extensionPath: ofFile,
    userHome: home,
    pathSeparator: sep,
    '/': sep,
  };
}
