import { err, ok, type Result } from 'neverthrow';
import { isWebUrl } from '../../../domain/values/web-url.ts';
import { OPTIONS } from './command-table.ts';

/** The options of a command line as they were given, by name. */
export type Values = Record<string, string>;

/** A tool, and its input as it was typed. */
export interface CallWords {
  readonly server: string;
  readonly tool: string;
  readonly input: TypedInput;
}

/** A member of an input, typed as `key=value`. */
export type TypedMember = readonly [key: string, value: string];

/** A JSON text, `@` and the path of a file, or `-` for standard input; or members. */
export type TypedInput = string | readonly TypedMember[];

/** Reads the words of `call`; the error is a message, or undefined if words are missing. */
export function readCallWords(words: readonly string[]): Result<CallWords, string | undefined> {
  const { server, tool, rest } = readToolWords(words);
  if (tool === undefined || isMember(tool)) return err(undefined);
  return readInputWords(rest).map((input) => ({ server, tool, input }));
}

/** Reads `server tool`, `server/tool`, `server__tool` or `server.tool`. The name of a server has none of these separators. */
export function readToolWords([first = '', ...others]: readonly string[]) {
  const [, server, tool] = /^(.+?)(?:\/|\.|__)(.+)$/s.exec(first) ?? [];
  if (server !== undefined) return { server, tool, rest: others };
  const [second, ...rest] = others;
  return { server: first, tool: second, rest };
}

function readInputWords(words: readonly string[]): Result<TypedInput, string> {
  const [first = '{}'] = words;
  const whole = words.find((word) => word === '-' || /^\s*[@{["]/.test(word));
  if (words.length < 2 && (whole !== undefined || !isMember(first))) return ok(first);
  if (whole !== undefined) return err('the input is either JSON, @file or "-", or key=value words; not both');
  const members = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    const key = word.slice(0, Math.max(at, 0));
    if (key === '') return err(`${JSON.stringify(word)} is not key=value`);
    if (key.includes('.')) return err(`${key}=: a member of an object is written as JSON, as in a='{"b": 1}'`);
    if (members.has(key)) return err(`${key}= is given twice; a list is written as JSON, as in a='[1, 2]'`);
    members.set(key, word.slice(at + 1));
  }
  return ok([...members]);
}

function isMember(word: string): boolean {
  return word.indexOf('=') > 0;
}

/** How a person wants to check. Each source is a file, a URL, or `-` for standard input. */
export interface CheckOptions {
  readonly sources: readonly string[];
  readonly json: boolean;
  readonly isStrict: boolean;
  /** Whether pages of other than public addresses may be requested. */
  readonly isPrivate: boolean;
  /** Patterns of URLs that are not checked. */
  readonly ignored: readonly string[];
  /** The time for a page; undefined if it is the default. */
  readonly timeoutMs: number | undefined;
}

const MAX_PAGE_S = 60;

/** The options of a check by their values on the command line, or what is wrong with them. */
export function toCheckOptions(words: readonly string[], values: Values): CheckOptions | string {
  const timeoutMs = readSeconds(values.timeout, MAX_PAGE_S);
  if (timeoutMs === null) return `--timeout needs seconds, more than 0 and at most ${MAX_PAGE_S}: --timeout=10`;
  return {
    sources: words.length === 0 ? ['-'] : words,
    json: 'json' in values,
    isStrict: 'strict' in values,
    isPrivate: 'private' in values,
    ignored: [],
    timeoutMs,
  };
}

/** The longest time for which a timer can be set. */
const MAX_SECONDS = Math.floor(0x7fffffff / 1000);

/** Reads a time limit in seconds, and returns milliseconds; undefined if none is given, null if it is none. */
export function readSeconds(text: string | undefined, max = MAX_SECONDS): number | undefined | null {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  return seconds > 0 && seconds <= max ? Math.ceil(seconds * 1000) : null;
}

/** The running gateway that is used, and the variable with its token; or a problem. `others` cannot be combined with it. */
export function readRunning({ url, 'token-env': tokenVariable, ...values }: Values, others: readonly string[]) {
  if (url !== undefined && !isWebUrl(url)) return `--url needs ${OPTIONS.url?.needs}`;
  if (url === undefined && tokenVariable !== undefined) return '--token-env needs --url';
  const other = others.find((name) => name in values);
  if (url !== undefined && other !== undefined) return `--${other} cannot be combined with --url`;
  return { url, tokenVariable };
}
