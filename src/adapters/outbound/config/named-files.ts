import { accessSync, closeSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { mergePolicy, type PolicyMerge, SYSTEM_POLICY } from '../../../domain/system-policy.ts';
import { openDebugFile } from '../logger/stderr-logger.ts';
import { expandPath, readNonEmptyText, reasonOf } from './files.ts';
import { type Environment, shownName, variableText } from './layers.ts';
import { type Tree, valueAt } from './tree.ts';

interface ApiKey {
  /** The variable to check if the key is wrong. */
  readonly variable: string;
  readonly value?: string;
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
  const content = readNonEmptyText(expandPath(path));
  if ('text' in content) return { variable: fileVariable, value: content.text.trim(), problems: [] };
  return problem({ value: path, message: `expected the path of a file that contains a key (${content.reason})` });
}

/** The model's instructions: the built-in policy, or its combination with the configured file (ruling 15). */
export function readPolicy(tree: Tree): { readonly instructions: string; readonly problems: readonly ConfigProblem[] } {
  const path = valueAt(tree, 'policy.system.path');
  const merge = valueAt(tree, 'policy.system.merge') as PolicyMerge;
  if (valueAt(tree, 'policy.system.source') !== 'file') {
    const unused = { path, merge: merge === 'replace' ? undefined : merge };
    const message = 'has no effect unless policy.system.source is file';
    const problems = Object.entries(unused)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ({ where: `policy.system.${key}`, value: String(value), message }));
    return { instructions: SYSTEM_POLICY, problems };
  }
  const problem = (rest: Omit<ConfigProblem, 'where'>) => ({
    instructions: '',
    problems: [{ where: 'policy.system.path', ...rest }],
  });
  if (typeof path !== 'string') return problem({ message: 'required, because policy.system.source is file' });
  const content = readNonEmptyText(path);
  if ('text' in content) {
    return { instructions: mergePolicy(content.text.replace(/\r\n?/g, '\n'), merge), problems: [] };
  }
  return problem({ value: path, message: `expected a policy file that can be read (${content.reason})` });
}

/** Problems with the other paths, which depend on the mode. */
export function checkPaths(tree: Tree): readonly ConfigProblem[] {
  const isOffline = valueAt(tree, 'llm.adapter') === 'offline';
  const isDebug = valueAt(tree, 'server.debug') === true;
  const checks: Readonly<Record<string, (path: string) => string | undefined>> = {
    'llm.recordings': (path) => (isOffline ? recordingsProblem(path) : undefined),
    'llm.record': (path) => (isOffline ? 'cannot be combined with offline mode' : recordProblem(path)),
    'server.debug_file': (path) => (isDebug ? debugFileProblem(path) : undefined),
  };
  return Object.entries(checks).flatMap(([where, messageFor]) => {
    const path = valueAt(tree, where);
    const message = typeof path === 'string' ? messageFor(path) : undefined;
    return message === undefined ? [] : [{ where, value: String(path), message }];
  });
}

function recordingsProblem(path: string): string | undefined {
  const expected = 'expected a folder of recordings, or one .json or .sse file';
  const reason = reasonOf(() => accessSync(path, constants.R_OK));
  if (reason !== undefined) return `${expected}, that can be read (${reason})`;
  return statSync(path).isDirectory() || /\.(?:json|sse)$/.test(path) ? undefined : expected;
}

/** The folder is created with the first recorded reply, so that starting leaves nothing on the disk. */
function recordProblem(path: string): string | undefined {
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const reason = statSync(existing).isDirectory()
    ? reasonOf(() => accessSync(existing, constants.W_OK))
    : `${existing} is not a folder`;
  return reason === undefined ? undefined : `expected a folder that can be written to (${reason})`;
}

function debugFileProblem(path: string): string | undefined {
  const reason = reasonOf(() => closeSync(openDebugFile(path)));
  return reason === undefined ? undefined : `expected a file that can be written to (${reason})`;
}
