import { closest } from 'fastest-levenshtein';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { looksLikeKey } from '../../../domain/redaction.ts';
import { KEYS } from './keys.ts';
import { isTree, mergeTrees, type Tree, treeOf } from './tree.ts';

const PROFILE_ANSWER = 'model_profiles.answer';
const KEY_ADVICE = 'no API key: keep keys out of this file, put them into the variable that openai.api_key_env names';

/**
 * Checks what a YAML file holds and keeps what is right. `null` is absent; only `model_profiles.answer: null` says
 * something: it takes the default profile away (ruling 11).
 */
export function checkYaml(content: unknown): { readonly tree: Tree; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  let tree: Tree = {};
  const visit = (value: unknown, path: string): void => {
    const key = KEYS.find((known) => known.path === path);
    if (typeof value === 'string' && looksLikeKey(value)) {
      problems.push({ where: path, value, accepted: KEY_ADVICE });
    } else if (key !== undefined && value !== null) {
      const read = key.kind.fromYaml(value);
      if (read === undefined) problems.push({ where: path, value: show(value), accepted: key.kind.accepted });
      else tree = mergeTrees(tree, treeOf(path, read));
    } else if (key === undefined && !isSection(path)) {
      problems.push({ where: path, accepted: unknownKeyAdvice(path) });
    } else if (value === null) {
      if (path === PROFILE_ANSWER) tree = mergeTrees(tree, treeOf(path, null));
    } else if (isTree(value)) {
      for (const [name, inner] of Object.entries(value)) visit(inner, path === '' ? name : `${path}.${name}`);
    } else {
      problems.push({ where: path === '' ? 'the file' : path, value: show(value), accepted: 'a section of keys' });
    }
  };
  visit(content ?? null, '');
  return { tree, problems };
}

function isSection(path: string): boolean {
  return path === '' || KEYS.some((key) => key.path.startsWith(`${path}.`));
}

function unknownKeyAdvice(path: string): string {
  if (/(?:^|\.)api[_-]?key$/i.test(path)) return KEY_ADVICE;
  const paths = KEYS.flatMap(({ path }) =>
    path.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.')),
  );
  return `a known key; the nearest is ${closest(path, [...new Set(paths)])}`;
}

function show(value: unknown): string {
  // JSON has no word for `.inf` and `.nan`.
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
