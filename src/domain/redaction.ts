const MASK = '[redacted]';

/** Shorter values are no keys: masking the word "test" wherever it stands would spoil answers. */
const SHORTEST_KEY = 8;

/** A key-like word: `sk-` at the start of a word; `*` because the API's own messages star keys. */
const KEY_LIKE = /(?<![A-Za-z0-9])sk-[A-Za-z0-9_*-]+/g;
const BEARER = /\b(Bearer\s+)[^\s"',]+/gi;

/** Takes keys out of what is shown (ruling 20). */
export interface Redactor {
  /** For every output: masks the known keys, and nothing else. Real URLs hold `...-musk-vs-...`. */
  readonly anywhere: (text: string) => string;
  /** For logs and errors: masks what looks like a key as well. */
  readonly inLogs: (text: string) => string;
}

export function createRedactor(keys: readonly string[]): Redactor {
  const known = keys
    .filter((key) => key.length >= SHORTEST_KEY)
    .flatMap(spellingsOf)
    // One may be the beginning of another.
    .sort((a, b) => b.length - a.length);
  const anywhere = (text: string) => known.reduce((masked, key) => masked.replaceAll(key, MASK), text);
  return {
    anywhere,
    inLogs: (text) => anywhere(text).replace(KEY_LIKE, MASK).replace(BEARER, `$1${MASK}`),
  };
}

/** A key as it stands in a JSON text inside a JSON text, in a JSON text, and plain. */
function spellingsOf(key: string): readonly string[] {
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1);
  return [...new Set([escaped(escaped(key)), escaped(key), key])];
}

/** Whether a key can be written into a header at all; one with blanks or letters beyond ASCII cannot. */
export function isSendableKey(key: string): boolean {
  return /^[\x21-\x7E]+$/.test(key);
}

/** Whether a configured value is likely a key that somebody put in the wrong place. */
export function looksLikeKey(text: string): boolean {
  return /^\s*sk-[A-Za-z0-9_-]{3,}\s*$/.test(text);
}
