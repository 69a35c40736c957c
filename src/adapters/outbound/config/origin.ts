import { KEYS } from './keys.ts';
import { type Tree, valueAt } from './tree.ts';

/** The options that set a key. */
const OPTIONS: Readonly<Record<string, string>> = {
  'server.debug_file': '--debug',
  'llm.recordings': '--offline',
  'llm.record': '--record',
  'http.listen': '--http',
};

/** Where a key got its value, as people know it: the option with its path, else the variable, else its path (ruling 15). */
export function originOf(path: string, commandLine: Tree, variables: Tree): string {
  const option = OPTIONS[path];
  if (option !== undefined && valueAt(commandLine, path) !== undefined) return `${option} (${path})`;
  if (valueAt(variables, path) === undefined) return path;
  return path === 'server.debug_file' ? 'DEBUG' : (KEYS.find((key) => key.path === path)?.variable ?? path);
}
