/** A pattern as a tree. A `set` is one character, described by its own small pattern. */
export type Node =
  | { readonly kind: 'choice'; readonly ways: readonly (readonly Node[])[] }
  | { readonly kind: 'set'; readonly source: string }
  | { readonly kind: 'edge'; readonly source: string }
  | { readonly kind: 'group'; readonly index: number; readonly inner: Node }
  | { readonly kind: 'look'; readonly isNegative: boolean; readonly isBehind: boolean; readonly inner: Node }
  | { readonly kind: 'repeated'; readonly name: string }
  | {
      readonly kind: 'many';
      readonly inner: Node;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
      /** The groups inside, which each round clears. */
      readonly groups: readonly [from: number, to: number];
    };

export interface Pattern {
  readonly root: Node;
  readonly groups: number;
  readonly names: ReadonlyMap<string, number>;
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})(\??)/y;
const ESCAPE = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<[^>]*>|\d+|[\s\S])/y;
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/y;
const OPENING = /\((?:\?(?:(:)|(<?)([=!])|<([\w$]+)>))?/y;

/** Reads the source of a regular expression, which the engine has accepted. */
export function parsePattern(source: string, isUnicode: boolean): Pattern {
  let at = 0;
  let groups = 0;
  const names = new Map<string, number>();
  const take = (token: RegExp) => {
    token.lastIndex = at;
    const match = token.exec(source);
    if (match !== null) at += match[0].length;
    return match;
  };
  const choice = (): Node => {
    const ways: Node[][] = [[]];
    for (; at < source.length && source[at] !== ')'; ) {
      if (source[at] === '|') {
        at += 1;
        ways.push([]);
      } else ways.at(-1)?.push(many());
    }
    return { kind: 'choice', ways };
  };
  const many = (): Node => {
    const before = groups;
    const inner = atom();
    const quantifier = take(QUANTIFIER);
    if (quantifier === null) return inner;
    const [shown, from, comma, to, lazy] = quantifier;
    const min = from === undefined ? (shown.startsWith('+') ? 1 : 0) : Number(from);
    const most = from === undefined ? (shown.startsWith('?') ? 1 : Number.POSITIVE_INFINITY) : min;
    const max = comma === ',' ? (to === '' ? Number.POSITIVE_INFINITY : Number(to)) : most;
    return { kind: 'many', inner, min, max, isLazy: lazy === '?', groups: [before + 1, groups] };
  };
  const atom = (): Node => {
    const opening = take(OPENING);
    if (opening !== null) {
      const [, plain, behind, look, name] = opening;
      const isGroup = plain === undefined && look === undefined;
      if (isGroup) groups += 1;
      const index = groups;
      if (name !== undefined) names.set(name, index);
      const inner = choice();
      at += 1;
      if (look !== undefined) return { kind: 'look', isNegative: look === '!', isBehind: behind === '<', inner };
      return isGroup ? { kind: 'group', index, inner } : inner;
    }
    const set = take(CLASS);
    if (set !== null) return { kind: 'set', source: set[0] };
    const escaped = take(ESCAPE)?.[0];
    if (escaped !== undefined) {
      if (/^\\[bB]$/.test(escaped)) return { kind: 'edge', source: escaped };
      if (/^\\(?:[1-9]|k<)/.test(escaped)) return { kind: 'repeated', name: escaped.replace(/^\\(?:k<)?|>$/g, '') };
      return { kind: 'set', source: escaped };
    }
    const character = isUnicode ? String.fromCodePoint(source.codePointAt(at) ?? 0) : source.charAt(at);
    at += character.length;
    return /[\^$]/.test(character) ? { kind: 'edge', source: character } : { kind: 'set', source: character };
  };
  const root = choice();
  return { root, groups, names };
}
