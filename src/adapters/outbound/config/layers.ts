import type { ConfigProblem } from '../../../application/ports/config.ts';
import { MASK } from '../../../domain/redaction.ts';
import { expandPath } from './files.ts';
import { KEYS } from './keys.ts';
import { mergeTrees, type Tree, treeOf } from './tree.ts';
import { debugFile, debugFlag } from './value-kinds.ts';

/** What one source (a YAML file, the environment) says about the configuration. */
export interface Layer {
  readonly tree: Tree;
  readonly problems: readonly ConfigProblem[];
  /** The YAML file, if it was read. */
  readonly file?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The options of the command line as they were typed: `--debug=x` is `{'--debug': 'x'}`, a bare `--debug` has the value ''. */
export type CommandLineOptions = Readonly<Record<string, string>>;

/** The keys that environment variables set (spec 5.4), and these variables. Relative paths start at the current folder. */
export function readEnvironment(environment: Environment): Layer & { readonly names: readonly string[] } {
  const names = new Set<string>();
  const problems: ConfigProblem[] = [];
  let tree: Tree = {};
  for (const { path, kind, variable = '', isSharedVariable } of KEYS) {
    const text = variableText(environment, variable);
    if (text === '') continue;
    const value = kind.fromText(text);
    if (value !== undefined) {
      tree = mergeTrees(tree, treeOf(path, kind.isPath ? expandPath(String(value)) : value));
      names.add(variable);
    } else if (!isSharedVariable) {
      const shown = kind.namesSecret ? shownName(text) : text;
      problems.push({ where: variable, value: shown, message: `expected ${kind.accepted}` });
    }
  }
  return { tree, problems, names: [...names] };
}

/** A variable's text without surrounding whitespace; '' if it is not set. An empty variable counts as not set. */
export function variableText(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

/** A value that should be the name of a variable, for display: what does not look like a name may be a pasted secret. */
export function shownName(name: string): string {
  return /^(?:[A-Z_][A-Z0-9_]*)?$/.test(name) ? name : MASK;
}

/** The keys that options set: a bare `--debug`, `--offline` or `--http` enables, a value says where. */
export function readOptions(options: CommandLineOptions): Tree {
  const { '--debug': debug, '--offline': offline, '--record': record, '--http': http } = options;
  return {
    server: debug === undefined ? undefined : readDebug(debug),
    llm: {
      adapter: offline === undefined ? undefined : 'offline',
      recordings: offline ? expandPath(offline) : undefined,
      record: record === undefined ? undefined : expandPath(record),
    },
    http: { listen: http || undefined },
  };
}

/** Here a value that is not a switch is a file, whatever its name (ruling 15 is about the variable). */
function readDebug(text: string): Tree {
  const isOn = text === '' ? true : debugFlag.fromText(text);
  if (isOn !== undefined && debugFile.fromText(text) === undefined) return { debug: isOn };
  return { debug: true, debug_file: expandPath(text) };
}
