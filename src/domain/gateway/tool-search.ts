import type { GatewayTool } from './gateway-tool.ts';

/** Maximum number of characters of a query that are read. */
export const MAX_QUERY = 1_000;
/** Maximum number of characters of a tool's text that are read. */
const MAX_FIELD = 4_000;

/** Weights of a word in the names of server and tool, the title, the description, and the parameters. */
const WEIGHTS = [4, 2, 2, 1] as const;
/** The parameters k1 and b of BM25: how quickly repetitions of a word lose weight, and how much the length of a field matters. */
const [SATURATION, LENGTH_EFFECT, WEAK_WEIGHT] = [0.8, 0.4, 0.3];

/** Words that say little about a tool. They count less, and a tool that has no other word of a query does not match. */
const WEAK = `a about all an and any are as at be by can do does for from get has have how in into is it its list me my new of on or our
  show that the their them this to tool use was we what when where which who will with you your`;
const WEAK_WORDS = new Set(WEAK.split(/\s+/).map(stem));

/**
 * All tools that match a query, the best first; tools with equal scores stay in order. BM25 over several fields, so that the result depends only on
 * the tools and the query. In a query that has only weak words, each word counts.
 */
export function findTools(tools: readonly GatewayTool[], query: string): readonly GatewayTool[] {
  const fieldsOf = tools.map(({ server, name, title = '', description, inputSchema }) =>
    [`${server} ${name}`, title, description, parametersOf(inputSchema)].map((text) =>
      wordsIn(text.slice(0, MAX_FIELD), true),
    ),
  );
  const totals = WEIGHTS.map((_, field) => fieldsOf.reduce((sum, fields) => sum + (fields[field]?.length ?? 0), 0));
  const frequencies = fieldsOf.map((fields) => {
    const ofTool = new Map<string, number>();
    for (const [field, words] of fields.entries()) {
      const length = 1 + LENGTH_EFFECT * ((words.length * tools.length) / (totals[field] || 1) - 1);
      for (const word of words) ofTool.set(word, (ofTool.get(word) ?? 0) + (WEIGHTS[field] ?? 0) / length);
    }
    return ofTool;
  });
  const words = [...new Set(wordsIn(query.slice(0, MAX_QUERY), false))];
  const strong = words.filter((word) => !isWeak(word));
  const needed = strong.length > 0 ? strong : words;
  const weights = words.map((word) => {
    const found = frequencies.filter((ofTool) => ofTool.has(word)).length;
    return (isWeak(word) ? WEAK_WEIGHT : 1) * Math.log(1 + (tools.length - found + 0.5) / (found + 0.5));
  });
  const scoreOf = (ofTool: ReadonlyMap<string, number>) =>
    words.reduce((sum, word, at) => {
      const frequency = ofTool.get(word) ?? 0;
      return sum + ((weights[at] ?? 0) * frequency) / (frequency + SATURATION);
    }, 0);
  return frequencies
    .flatMap((ofTool, at) => (needed.some((word) => ofTool.has(word)) ? [{ at, score: scoreOf(ofTool) }] : []))
    .sort((a, b) => b.score - a.score)
    .flatMap(({ at }) => tools[at] ?? []);
}

/** Keywords whose values are data, in which `properties` and `description` have no meaning. */
const VALUES = new Set(['default', 'enum', 'const', 'examples']);

/** Names and descriptions of parameters, those of the first level first. */
function parametersOf(inputSchema: object): string {
  const parts = [{ part: inputSchema, isProperties: false }];
  let text = '';
  for (const { part, isProperties } of parts) {
    for (const [key, value] of Object.entries(part)) {
      if (text.length > MAX_FIELD || parts.length > MAX_FIELD) return text;
      if (isProperties) text += ` ${key}`;
      else if (key === 'description' && typeof value === 'string') text += ` ${value}`;
      if (typeof value === 'object' && value !== null && (isProperties || !VALUES.has(key)))
        parts.push({ part: value, isProperties: !isProperties && key === 'properties' });
    }
  }
  return text;
}

const CJK = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー]';
const CJK_RUN = new RegExp(`^${CJK}`, 'u');
const RUN = new RegExp(`${CJK}+|(?:(?!${CJK})[\\p{L}\\p{M}\\p{N}_-])+`, 'gu');
/** A word within `camelCase`, `HTTPServer`, `snake_case` or `kebab-case`. */
const PART = /\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?[^\p{Lu}_-]+/gu;

/** The words of a text, with compounds also as one word, and bigrams of Chinese, Japanese and Korean. A query of one character finds all runs that contain it. */
function wordsIn(text: string, isOfTool: boolean): string[] {
  return [...text.normalize('NFKC').matchAll(RUN)].flatMap(([run]) => {
    if (CJK_RUN.test(run)) {
      const characters = [...run];
      const bigrams = characters.slice(1).map((character, at) => `${characters[at]}${character}`);
      return isOfTool || bigrams.length === 0 ? [...bigrams, ...characters] : bigrams;
    }
    const parts = run.match(PART) ?? [];
    return (parts.length > 1 ? [...parts, parts.join('')] : parts).map((part) => stem(part.toLowerCase()));
  });
}

/** The stem of a word: `issues` and `issue`, or `merging` and `merge`, are the same. */
function stem(word: string): string {
  const short = word.replace(/ies$/, 'y').replace(/e?(?:(?<!s)s|ing|ed)$|e$/, '');
  return short.length >= 3 ? short : word;
}

function isWeak(word: string): boolean {
  // Hiragana between other characters is grammar.
  return WEAK_WORDS.has(word) || /\p{Script=Hiragana}/u.test(word);
}
