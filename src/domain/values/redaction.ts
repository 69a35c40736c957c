import { toJsonText } from './exact-number.ts';
import { isObject, parseJson } from './json.ts';

/** The text that replaces a secret. */
export const MASK = '[redacted]';

/** Shorter values are not masked in results and answers: masking every "test" would damage them. */
const SHORTEST_KEY = 8;
/** In texts of this program, shorter secrets are masked too, where no letter or digit adjoins them. */
const SHORTEST_SECRET = 4;

/** `sk-` at the start of a word looks like a key; the API's own messages mask keys with `*`. */
const KEY_LIKE = /(?<![A-Za-z0-9])sk-[A-Za-z0-9_*-]+/g;
/** Matches a token after `Bearer`, but not an example such as `Bearer ...`, nor a reference, which is no secret. */
const BEARER = /\b(Bearer\s+)(?!\$\{)(?=[^\s"',]*\w)[^\s"',]+/gi;

interface Secrets {
  /** Keys, tokens and passwords of this program. */
  readonly own: readonly string[];
  readonly ofServers: readonly string[];
}

/** Masks secrets in every text that leaves the program. A text is masked before it is cut. There is one per process. */
export interface Redactor {
  /** For answers, and for results and lists of tools: masks the program's own keys only. Real URLs contain `...-musk-vs-...`. */
  readonly anywhere: (text: string) => string;
  /** For what the model reads: masks all secrets. */
  readonly known: (text: string) => string;
  /** For texts of this program (logs, errors, states): masks all secrets, and what looks like a key. */
  readonly inLogs: (text: string) => string;
  /** Adds secrets to mask. None is ever forgotten, because a server that is no longer configured may still write it. */
  readonly learn: (secrets: Partial<Secrets>) => void;
  /** Like `learn`, for keys of the program that are replaced regularly: the latest two sets of each name are masked. */
  readonly learnLatest: (name: string, own: readonly string[]) => void;
}

/** Creates a redactor that knows no secrets yet. */
export function createRedactor(): Redactor {
  const own = new Set<string>();
  const ofServers = new Set<string>();
  const latest = new Map<string, readonly (readonly string[])[]>();
  const maskers = () => {
    const keys = [...own, ...[...latest.values()].flat(2)];
    const all = [...keys, ...ofServers];
    return { ofKeys: maskerOf(keys, SHORTEST_KEY), ofAll: maskerOf(all, SHORTEST_SECRET) };
  };
  let { ofKeys, ofAll } = maskers();
  return {
    anywhere: (text) => ofKeys(text),
    known: (text) => ofAll(text),
    inLogs: (text) => withoutKeyLike(ofAll(text)),
    learnLatest: (name, own) => {
      const [before = []] = latest.get(name) ?? [];
      if (own.every((key) => before.includes(key))) return;
      latest.set(name, [own, before]);
      ({ ofKeys, ofAll } = maskers());
    },
    learn: (secrets) => {
      for (const secret of secrets.own ?? []) own.add(secret);
      for (const secret of secrets.ofServers ?? []) ofServers.add(secret);
      ({ ofKeys, ofAll } = maskers());
    },
  };
}

/** Masks these secrets, the longest first, because one may contain another. Short secrets are masked only where no letter or digit adjoins them. */
function maskerOf(secrets: readonly string[], shortest: number): (text: string) => string {
  const masked = [...new Set(secrets)].filter(({ length }) => length >= shortest);
  const spellings = masked.flatMap(spellingsOf).sort((a, b) => b.length - a.length);
  const long = spellings.filter(({ length }) => length >= SHORTEST_KEY);
  const short = spellings.slice(long.length).map((one) => one.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const withoutLines = lineMaskerOf(masked);
  const withoutLong = (text: string) => withoutLines(long.reduce((left, one) => left.replaceAll(one, MASK), text));
  // Compiling the pattern slows the start, and few configurations have a short secret.
  if (short.length === 0) return withoutLong;
  const words = new RegExp(`(?<![\\p{L}\\p{N}])(?:${short.join('|')})(?![\\p{L}\\p{N}])`, 'gu');
  return (text) => withoutLong(text).replace(words, MASK);
}

/** Masks the lines of secrets that have several, which programs also print alone. In one pass, because a key can have a thousand lines. */
function lineMaskerOf(secrets: readonly string[]): (text: string) => string {
  const byStart = new Map<string, string[]>();
  for (const line of secrets.flatMap(linesOf).flatMap(spellingsOf)) {
    const start = line.slice(0, SHORTEST_KEY);
    byStart.set(
      start,
      [...(byStart.get(start) ?? []), line].sort((a, b) => b.length - a.length),
    );
  }
  if (byStart.size === 0) return (text) => text;
  return (text) => {
    let left = '';
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const found = byStart.get(text.slice(at, at + SHORTEST_KEY))?.find((line) => text.startsWith(line, at));
      if (found === undefined) continue;
      left += text.slice(from, at) + MASK;
      from = at + found.length;
      at = from - 1;
    }
    return left + text.slice(from);
  };
}

/** The lines of a secret that has several. Lines with blanks, such as the first of a PEM, and words are ordinary text. */
function linesOf(secret: string): readonly string[] {
  const lines = secret.split(/[\r\n]+/);
  return lines.length === 1
    ? []
    : lines.map((line) => line.trim()).filter((line) => line.length >= SHORTEST_KEY && !/\s|^[A-Za-z]+$/.test(line));
}

/** Masks texts that look like a key, before the configuration is known. */
export function withoutKeyLike(text: string): string {
  return text.replace(KEY_LIKE, MASK).replace(BEARER, `$1${MASK}`);
}

/** The spellings of a secret: as it is, in JSON, and in a URL. */
function spellingsOf(secret: string): readonly string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  return [...new Set([JSON.stringify(secret).slice(1, -1), secret, encoded])];
}

/** Pairs of quotation marks that shells, forms and files leave around a key. */
const QUOTATION_MARKS = ['""', "''", '``', '“”', '””', '‘’', '’’', '„“', '«»', '‹›', '「」', '＂＂'];

/** A key or token without the quotation marks around it, which no key has, also if a backslash precedes each, or if there are several pairs. */
export function bareKey(key: string): string {
  const text = key.startsWith('\\') ? key.slice(1).replace(/\\(?=.$)/u, '') : key;
  const isQuoted = text.length > 1 && QUOTATION_MARKS.includes(`${text.at(0)}${text.at(-1)}`);
  return isQuoted ? bareKey(text.slice(1, -1).trim()) : key;
}

/** Why a key cannot be used; undefined if it can. */
export function keyProblem(key: string | undefined) {
  if (key === undefined) return 'no_api_key';
  if (PLACEHOLDERS.some((placeholder) => placeholder.test(key))) return 'placeholder_api_key';
  return isSendableKey(key) ? undefined : 'malformed_api_key';
}

/** Whether a key can be sent in a header: visible ASCII characters only. */
export function isSendableKey(key: string): boolean {
  return /^[\x21-\x7E]+$/.test(key);
}

/** Placeholders that guides show instead of a key, and that clients and shells pass on if they do not replace them. */
const PLACEHOLDERS = [
  /^(?:sk-)?(?:proj-)?(?:\.{2,}|…|[x*]{3,})$/i,
  /^(?:sk-)?your[-_ ].*key/i,
  /^<.*>$/,
  /^\$\{.*\}$/,
  /^\$[A-Z_]+$/,
  /^%[A-Z_]+%$/,
];

/** Whether a configured value is probably a key in the wrong place. */
export function looksLikeKey(text: string): boolean {
  return /^\s*sk-[A-Za-z0-9_-]{3,}\s*$/.test(text);
}

/** A value as JSON. Keys are masked only in strings and names of members, because a key of digits would also match numbers. */
export function redactedJson(value: unknown, redact: (text: string) => string, indent?: number): string {
  const json = toJsonText(value, indent);
  if (redact(json) === json) return json;
  const masked = (member: unknown): unknown => {
    if (typeof member === 'string') return redact(member);
    if (Array.isArray(member)) return member.map(masked);
    if (!isObject(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, inner]) => [redact(name), masked(inner)]));
  };
  return toJsonText(masked(parseJson(json)), indent);
}

/** Like `redactedJson`, but returns the value. */
export function redactedValue<T>(value: T, redact: (text: string) => string): T {
  return parseJson(redactedJson(value, redact)) as T;
}
