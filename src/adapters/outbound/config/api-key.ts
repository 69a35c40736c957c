import { statSync } from 'node:fs';
import { MASK } from '../../../domain/values/redaction.ts';
import { type Environment, shownName, variableText } from '../network/environment.ts';
import { expandPath, readNonEmptyText } from './files.ts';
import type { Report } from './problems.ts';

/**
 * The API key from a variable, or from the file that a second variable with the suffix `_FILE` names; the variable to check if the key is wrong;
 * and whether other users of this machine can read the file.
 */
export function readApiKey(environment: Environment, name: string, report: Report) {
  const variable = shownName(name);
  const fileVariable = `${variable}_FILE`;
  const value = variableText(environment, name) || undefined;
  const path = variableText(environment, `${name}_FILE`);
  if (path === '') return { variable, value, isShared: false };
  const file = expandPath(path);
  const content = value === undefined ? readNonEmptyText(file) : undefined;
  if (content === undefined) report(fileVariable, `${variable} and ${fileVariable} are both set; set only one`);
  else if ('text' in content) return { variable: fileVariable, value: content.text.trim(), isShared: isShared(file) };
  else
    report(
      fileVariable,
      `expected the path of a file that contains a key (${content.reason})`,
      isPath(path) ? path : MASK,
    );
  return { variable: fileVariable, value: undefined, isShared: false };
}

/** Anything else may be the key itself. */
function isPath(text: string): boolean {
  return /^(?:~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]/.test(text);
}

/** A file on Windows has no such mode. */
function isShared(file: string): boolean {
  return process.platform !== 'win32' && (statSync(file).mode & 0o004) !== 0;
}
