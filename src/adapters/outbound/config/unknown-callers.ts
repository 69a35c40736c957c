import type { ConfigProblem } from '../../../application/ports/config.ts';
import { LOCAL_CALLER, TOKEN_CALLER } from '../../../domain/gateway/call-origin.ts';
import type { ConfigTree } from './keys.ts';
import { MAX_TYPOS, nearest } from './nearest.ts';

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
