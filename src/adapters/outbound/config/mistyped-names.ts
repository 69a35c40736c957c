import type { ConfigProblem } from '../../../application/ports/config.ts';
import { LOCAL_CALLER, TOKEN_CALLER } from '../../../domain/gateway/call-origin.ts';
import { type Environment, variableText } from '../network/environment.ts';
import { type ConfigTree, KEY_VARIABLES } from './keys.ts';
import { MAX_TYPOS, nearest } from './member-words.ts';

/** Shorter names, such as `DEBUG`, resemble variables of other programs. */
const SHORTEST = 8;
/** Up to this length, two typos make another word: `FTP_PROXY` is not `HTTP_PROXY`. */
const ONE_TYPO = 12;

/**
 * A notice, without the value, for each unknown variable whose name resembles a known one. If the known one is a secret that is set, the other is
 * probably a second secret, and is not reported. `others` has known variables that belong to no key, such as those of secrets.
 */
export function mistypedVariables(environment: Environment, others: readonly string[]): readonly ConfigProblem[] {
  const known = [...KEY_VARIABLES, ...others];
  const isSet = (name: string) => variableText(environment, name) !== '';
  const isUnknown = (name: string) => /^[A-Z][A-Z0-9_]+$/.test(name) && !known.includes(name) && isSet(name);
  const isCandidate = (name: string) => !isSet(name) || (KEY_VARIABLES.includes(name) && name !== 'OPENAI_API_KEY');
  const candidates = known.filter((name) => name.length >= SHORTEST && isCandidate(name));
  return Object.keys(environment)
    .filter(isUnknown)
    .flatMap((name) => {
      const maxTypos = name.length > ONE_TYPO ? MAX_TYPOS : 1;
      const meant = nearest(name, candidates, maxTypos);
      return meant === undefined ? [] : [{ where: name, message: `unknown variable; did you mean ${meant}?` }];
    });
}

/**
 * A notice for each section that names callers who have no token, because what it says about them has no effect. Persons of an authorization
 * server and groups are not known.
 */
export function unknownCallers({ access, http, grounding }: ConfigTree, callers: readonly string[]): ConfigProblem[] {
  const isUnknown = (name: string) => TOKEN_CALLER.test(name) && name !== LOCAL_CALLER && !callers.includes(name);
  const sections = {
    // A removed entry is null.
    access: Object.entries(access ?? {}).flatMap(([name, entry]) => (entry === null ? [] : [name])),
    'http.quota.callers': Object.keys(http.quota.callers ?? {}),
    'grounding.callers': grounding.callers,
  };
  return Object.entries(sections).flatMap(([where, names]) => {
    const shown = names.filter(isUnknown).map((name) => {
      const meant = nearest(name, callers, MAX_TYPOS);
      return meant === undefined ? name : `${name} (did you mean ${meant}?)`;
    });
    const message = `has no effect for callers without a token (http.token_env, http.token_file): ${shown.join(', ')}`;
    return shown.length === 0 ? [] : [{ where, message }];
  });
}
