import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { Environment } from './environment.ts';
import { readText } from './files.ts';
import { expandPath } from './paths.ts';

export interface ApiKey {
  /** The variable to look at when the key is wrong. */
  readonly variable: string;
  readonly value?: string;
  readonly problems: readonly ConfigProblem[];
}

/** The key stands in a variable, or in the file that a second variable, ending in `_FILE`, names. */
export function readApiKey(environment: Environment, variable: string): ApiKey {
  const value = environment[variable]?.trim() ?? '';
  const fileVariable = `${variable}_FILE`;
  const path = environment[fileVariable]?.trim() ?? '';
  if (path === '') return value === '' ? { variable, problems: [] } : { variable, value, problems: [] };
  const problem = (accepted: string): ApiKey => ({
    variable: fileVariable,
    problems: [{ where: fileVariable, value: path, accepted }],
  });
  if (value !== '') return problem(`nothing, since ${variable} holds a key: set one of the two`);
  const content = readText(expandPath(path, process.cwd()));
  if ('fault' in content) return problem(`the path of a file that can be read (${content.fault})`);
  const key = content.text.replace(/^\uFEFF/, '').trim();
  return key === ''
    ? problem('the path of a file that holds a key (it is empty)')
    : { variable: fileVariable, value: key, problems: [] };
}
