import type { ConfigProblem } from '../../../application/ports/config.ts';
import { type Environment, variableText } from './environment.ts';
import { KEYS } from './keys.ts';

/** Other programs have variables with these prefixes, too. */
const PREFIX = /^(?:MCP|OPENAI|ANSWER)_[A-Z0-9_]+$/;
const MAX_TYPOS = 2;

/**
 * A notice for each variable within two typos of a known one that is not set: beside it, another variable is meant, such as a second key.
 * Without its value, which may be a secret. `others` are the known variables that belong to no key, such as those of secrets.
 */
export async function mistypedVariables(
  environment: Environment,
  others: readonly string[],
): Promise<readonly ConfigProblem[]> {
  const candidates = Object.keys(environment).filter((name) => PREFIX.test(name));
  if (candidates.length === 0) return [];
  const known = [...KEYS.flatMap(({ variable }) => variable ?? []), ...others];
  const isSet = (name: string) => variableText(environment, name) !== '';
  const unknown = candidates.filter((name) => !known.includes(name) && isSet(name));
  if (unknown.length === 0) return [];
  const { distance } = await import('fastest-levenshtein');
  return unknown.flatMap((name) => {
    const near = known.filter((other) => distance(name, other) <= MAX_TYPOS && !isSet(other));
    const [nearest] = near.sort((a, b) => distance(name, a) - distance(name, b));
    return nearest === undefined ? [] : [{ where: name, message: `unknown variable; did you mean ${nearest}?` }];
  });
}
