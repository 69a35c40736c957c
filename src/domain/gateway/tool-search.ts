import type { GatewayTool } from './gateway-tool.ts';

/** Of a query, so many characters count. */
export const MAX_QUERY = 1_000;
/** So many characters of a field of a tool count, and so many parts of its schema; with many tools of a server, fewer. */
const MAX_FIELD = 4_000;
/** Of a field of all tools of a server: no server holds the process up. */
const MAX_FIELDS = 75_000;

/** How much a word counts in the names of server and tool, the title, the description, and the parameters. */
const WEIGHTS = [4, 2, 2, 1] as const;
/** As k1 and b of BM25: how soon more places of a word add little, and how much the length of a field matters. */
const [SATURATION, LENGTH_EFFECT, WEAK_WEIGHT] = [0.8, 0.4, 0.3];

/** Words that say little about a tool. They count less, and a tool that has only these of a query does not match. */
const WEAK = `a about all an and any are as at be by can do does for from get has have how in into is it its list me my new of on or our
  show that the their them this to tool use was we what when where which who will with you your`;
const WEAK_WORDS = new Set(WEAK.split(/\s+/).map(stem));

/** Finds tools by words: BM25 over several fields. The result depends on nothing but the tools and the query. */
export class ToolIndex {
  readonly #tools: readonly GatewayTool[];
  readonly #postings = new Map<string, { readonly tool: number; score: number }[]>();

  constructor(tools: readonly GatewayTool[]) {
    this.#tools = tools;
    const counts = new Map<string, number>();
    for (const { server } of tools) counts.set(server, (counts.get(server) ?? 0) + 1);
    const fieldsOf = tools.map(({ server, name, title = '', description, inputSchema }) => {
      const max = Math.min(MAX_FIELD, MAX_FIELDS / (counts.get(server) ?? 1));
      const parameters = parametersOf(inputSchema, max);
      return [`${server} ${name}`, title, description, parameters].map((text) => wordsIn(text.slice(0, max), true));
    });
    const totals = WEIGHTS.map((_, field) => fieldsOf.reduce((sum, fields) => sum + (fields[field]?.length ?? 0), 0));
    for (const [tool, fields] of fieldsOf.entries()) {
      const frequencies = new Map<string, number>();
      for (const [field, words] of fields.entries()) {
        const length = 1 + LENGTH_EFFECT * ((words.length * tools.length) / (totals[field] || 1) - 1);
        for (const word of words) frequencies.set(word, (frequencies.get(word) ?? 0) + (WEIGHTS[field] ?? 0) / length);
      }
      for (const [word, score] of frequencies) {
        const postings = this.#postings.get(word);
        if (postings === undefined) this.#postings.set(word, [{ tool, score }]);
        else postings.push({ tool, score });
      }
    }
    for (const [word, postings] of this.#postings) {
      const weight =
        (isWeak(word) ? WEAK_WEIGHT : 1) *
        Math.log(1 + (tools.length - postings.length + 0.5) / (postings.length + 0.5));
      for (const posting of postings) posting.score = (weight * posting.score) / (posting.score + SATURATION);
    }
  }

  /** All tools that match, the best first; equal ones in the order of the tools. Of a query of weak words only, each counts. */
  find(query: string): readonly GatewayTool[] {
    const words = [...new Set(wordsIn(query.slice(0, MAX_QUERY), false))];
    const strong = words.filter((word) => !isWeak(word));
    const postingsOf = (words: readonly string[]) => words.flatMap((word) => this.#postings.get(word) ?? []);
    const scores = new Map(postingsOf(strong.length > 0 ? strong : words).map(({ tool }) => [tool, 0]));
    for (const { tool, score } of postingsOf(words))
      if (scores.has(tool)) scores.set(tool, (scores.get(tool) ?? 0) + score);
    return [...scores].sort(([a, ofA], [b, ofB]) => ofB - ofA || a - b).flatMap(([tool]) => this.#tools[tool] ?? []);
  }
}

/** Values of parameters, in which `properties` and `description` mean nothing. */
const VALUES = new Set(['default', 'enum', 'const', 'examples']);

/** Names and descriptions of parameters, those of the first level first. */
function parametersOf(inputSchema: object, max: number): string {
  const parts = [{ part: inputSchema, isProperties: false }];
  let text = '';
  for (const { part, isProperties } of parts) {
    for (const [key, value] of Object.entries(part)) {
      if (text.length > max || parts.length > max) return text;
      if (isProperties) text += ` ${key}`;
      else if (key === 'description' && typeof value === 'string') text += ` ${value.slice(0, max)}`;
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

/** The words of a text, compounds also as one word, and bigrams. A single character as a query finds all runs that have it. */
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

/** `issues` and `issue`, `merging` and `merge` are the same word. */
function stem(word: string): string {
  const short = word.replace(/ies$/, 'y').replace(/e?(?:(?<!s)s|ing|ed)$|e$/, '');
  return short.length >= 3 ? short : word;
}

function isWeak(word: string): boolean {
  // Hiragana between other characters is grammar.
  return WEAK_WORDS.has(word) || /\p{Script=Hiragana}/u.test(word);
}
