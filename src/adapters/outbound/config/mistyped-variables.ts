import type { ConfigProblem } from '../../../application/ports/config.ts';
import { type Environment, variableText } from '../network/environment.ts';
import { KEY_VARIABLES } from './default-config.ts';

/** Other programs have variables with these prefixes, too. */
const PREFIX = /^(?:MCP|OPENAI|ANSWER)_[A-Z0-9_]+$/;

/**
 * A notice for each variable within two typos of a known one. Beside a key or another secret that is set, a similar name means a second one. Without its value,
 * which may be a secret. `others` are the known variables that belong to no key, such as those of secrets.
 */
export async function mistypedVariables(
  environment: Environment,
  others: readonly string[],
): Promise<readonly ConfigProblem[]> {
  const known = [...KEY_VARIABLES, ...others];
  const isSet = (name: string) => variableText(environment, name) !== '';
  const unknown = Object.keys(environment).filter((name) => PREFIX.test(name) && !known.includes(name) && isSet(name));
  if (unknown.length === 0) return [];
  const { MAX_TYPOS, nearest } = await import('./nearest.ts');
  const candidates = known.filter(
    (name) => !isSet(name) || (KEY_VARIABLES.includes(name) && name !== 'OPENAI_API_KEY'),
  );
  return unknown.flatMap((name) => {
    const meant = nearest(name, candidates, MAX_TYPOS);
    return meant === undefined ? [] : [{ where: name, message: `unknown variable; did you mean ${meant}?` }];
  });
}
