/** What is shown instead of a secret. */
export const MASK = '[redacted]';

/** Shorter values are not keys: masking every "test" would damage answers. */
const SHORTEST_KEY = 8;

/** `sk-` at the start of a word looks like a key; the API's own messages mask keys with `*`. */
const KEY_LIKE = /(?<![A-Za-z0-9])sk-[A-Za-z0-9_*-]+/g;
const BEARER = /\b(Bearer\s+)[^\s"',]+/gi;

/** Masks keys in output (ruling 20). */
export interface Redactor {
  /** For every output: masks the known keys only. Real URLs contain `...-musk-vs-...`. */
  readonly anywhere: (text: string) => string;
  /** For logs and errors: also masks what looks like a key. */
  readonly inLogs: (text: string) => string;
}

export function createRedactor(keys: readonly string[]): Redactor {
  const known = keys
    .filter((key) => key.length >= SHORTEST_KEY)
    .flatMap(spellingsOf)
    // One key may be the beginning of another.
    .sort((a, b) => b.length - a.length);
  const anywhere = (text: string) => known.reduce((masked, key) => masked.replaceAll(key, MASK), text);
  return { anywhere, inLogs: (text) => anywhere(text).replace(KEY_LIKE, MASK).replace(BEARER, `$1${MASK}`) };
}

/** A key in JSON inside JSON, in JSON, and as it is. */
function spellingsOf(key: string): readonly string[] {
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1);
  return [...new Set([escaped(escaped(key)), escaped(key), key])];
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

/** What guides show instead of a key, and what clients and shells pass on when they do not replace it. */
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

/** A value as JSON, with keys masked in its strings only: a key of digits would also match numbers. */
export function redactedJson(value: unknown, redact: (text: string) => string, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  if (redact(json) === json) return json;
  return JSON.stringify(value, (_, member) => (typeof member === 'string' ? redact(member) : member), indent);
}
