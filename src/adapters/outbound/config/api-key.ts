import { statSync } from 'node:fs';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { MASK } from '../../../domain/redaction.ts';
import { type Environment, shownName, variableText } from './environment.ts';
import { expandPath, readNonEmptyText } from './files.ts';

interface ApiKey {
  /** The variable to check if the key is wrong. */
  readonly variable: string;
  readonly value?: string;
  /** Other users of this machine can read the file that contains it. */
  readonly isShared?: boolean;
  readonly problems: readonly ConfigProblem[];
}

/** Reads the API key from a variable, or from the file that a second variable with the suffix `_FILE` names. */
export function readApiKey(environment: Environment, name: string): ApiKey {
  const variable = shownName(name);
  const fileVariable = `${variable}_FILE`;
  const value = variableText(environment, name);
  const path = variableText(environment, `${name}_FILE`);
  if (path === '') return value === '' ? { variable, problems: [] } : { variable, value, problems: [] };
  const problem = (rest: Omit<ConfigProblem, 'where'>): ApiKey => ({
    variable: fileVariable,
    problems: [{ where: fileVariable, ...rest }],
  });
  if (value !== '') return problem({ message: `${variable} and ${fileVariable} are both set; set only one` });
  const file = expandPath(path);
  const content = readNonEmptyText(file);
  if ('text' in content)
    return { variable: fileVariable, value: content.text.trim(), isShared: isShared(file), problems: [] };
  return problem({
    value: isPath(path) ? path : MASK,
    message: `expected the path of a file that contains a key (${content.reason})`,
  });
}

/** Anything else may be the key itself. */
function isPath(text: string): boolean {
  return /^(?:~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]/.test(text);
}

/** A file on Windows has no such mode. */
function isShared(file: string): boolean {
  return process.platform !== 'win32' && (statSync(file).mode & 0o004) !== 0;
}
