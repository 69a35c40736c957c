import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { mergeTrees, type Tree, valueAt } from './tree.ts';

const PATHS = ['policy.system.path', 'server.debug_file', 'llm.recordings', 'llm.record'];

/** `~` is the home folder; a relative path starts at `folder`: the configuration's for YAML, else where we were started. */
export function resolvePaths(tree: Tree, folder: string): Tree {
  let resolved = tree;
  for (const path of PATHS) {
    const value = valueAt(tree, path);
    const [section = '', ...rest] = path.split('.');
    if (typeof value === 'string') {
      const inner = rest.reduceRight<unknown>((value, key) => ({ [key]: value }), expandPath(value, folder));
      resolved = mergeTrees(resolved, { [section]: inner });
    }
  }
  return resolved;
}

export function expandPath(path: string, folder: string): string {
  return /^~(?:[/\\]|$)/.test(path) ? join(homedir(), path.slice(1)) : resolve(folder, path);
}
