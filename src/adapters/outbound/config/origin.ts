import { KEYS } from './keys.ts';
import { OPTION_OF } from './options.ts';
import { type Tree, valueAt } from './tree.ts';

/** Where a key got its value, as people know it: the option with its path, else the variable, else its path (ruling 15). */
export function originOf(path: string, commandLine: Tree, variables: Tree): string {
  const option = OPTION_OF[path];
  if (option !== undefined && valueAt(commandLine, path) !== undefined) return `${option} (${path})`;
  if (valueAt(variables, path) === undefined) return path;
  return path === 'server.debug_file' ? 'DEBUG' : (KEYS.find((key) => key.path === path)?.variable ?? path);
}
