import type { ConfigProblem } from '../../../application/ports/config.ts';
import { KEYS } from './keys.ts';
import { mergeTrees, type Tree, treeOf } from './tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Layer {
  readonly tree: Tree;
  /** The variables or options that had a say. */
  readonly names: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** What `DEBUG`, `--debug=...` or a debug file's path mean (ruling 15); undefined: meant for some other program. */
export function readDebug(value: string): Tree | undefined {
  if (/^(?:1|true)$/i.test(value)) return { debug: true };
  if (/^(?:0|false)$/i.test(value)) return { debug: false };
  return /[/\\]|\.log$/.test(value) ? { debug: true, debug_file: value } : undefined;
}

/** The configuration that the environment's variables hold. An empty variable is an absent one. */
export function readEnvironment(environment: Environment): Layer {
  const names: string[] = [];
  const problems: ConfigProblem[] = [];
  let tree: Tree = {};
  for (const { path, kind, variable } of KEYS) {
    const text = variable === undefined ? '' : (environment[variable]?.trim() ?? '');
    if (variable === undefined || text === '') continue;
    const value = kind.fromText(text);
    if (value === undefined) problems.push({ where: variable, value: text, accepted: kind.accepted });
    else {
      tree = mergeTrees(tree, treeOf(path, value));
      names.push(variable);
    }
  }
  const debug = readDebug(environment.DEBUG?.trim() ?? '');
  if (debug !== undefined) {
    tree = mergeTrees(tree, { server: debug });
    names.push('DEBUG');
  }
  return { tree, names, problems };
}
