import { existsSync } from 'node:fs';
import path from 'node:path/posix';
import { parseSync, Visitor } from 'rolldown/utils';
import { filesIn } from './rules.ts';

/** An import of a file of `src`: of another file, of `node:...`, or of `package:...`. Imports of types count, too. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/** What may not be imported by the files that `from` matches. */
export interface ImportRule {
  readonly name: string;
  readonly from: RegExp;
  /** Whether an import is forbidden; `match` is that of `from`. */
  readonly forbids: (to: string, match: RegExpExecArray) => boolean;
}

/** The files of `src` below `root`, and their imports. */
export function importsBelow(root: string) {
  const files = filesIn(root, 'src');
  const imports = files.flatMap(({ path: from, text }) =>
    specifiersIn(from, text).map((to) => resolve(root, from, to)),
  );
  return { files: files.map((file) => file.path), imports };
}

function specifiersIn(file: string, text: string): readonly string[] {
  const { program, module } = parseSync(file, text, { lang: 'ts' });
  const ofTypes: string[] = [];
  new Visitor({ TSImportType: ({ source }) => void ofTypes.push(String(source.value)) }).visit(program);
  const reExports = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap((entry) => entry.moduleRequest ?? []),
  );
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...reExports.map(({ value }) => value),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
    ...ofTypes,
  ];
}

function resolve(root: string, from: string, specifier: string): Import {
  if (specifier.startsWith('node:')) return { from, to: specifier };
  if (!specifier.startsWith('.')) return { from, to: `package:${specifier}` };
  const to = path.join(path.dirname(from), specifier);
  return { from, to: existsSync(path.join(root, to)) ? to : `missing:${to}` };
}

/** The violations, as `from -> to: rule`. */
export function violationsOf(rules: readonly ImportRule[], imports: readonly Import[]): readonly string[] {
  return imports.flatMap(({ from, to }) =>
    rules
      .filter((rule) => {
        const match = rule.from.exec(from);
        return match !== null && rule.forbids(to, match);
      })
      .map(({ name }) => `${from} -> ${to}: ${name}`),
  );
}

/** The imports from which a path leads back, as `from -> to`: of files, or, with `toNode`, of their folders. */
export function circlesOf(imports: readonly Import[], toNode = (file: string) => file): readonly string[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [source, target] = [toNode(from), toNode(to)];
    if (!to.startsWith('src/') || source === target) continue;
    targets.set(source, (targets.get(source) ?? new Set()).add(target));
  }
  const leadsTo = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(targets.get(from) ?? [])].some(
      (next) => next === to || (!seen.has(next) && leadsTo(next, to, seen.add(next))),
    );
  return [...targets].flatMap(([source, others]) =>
    [...others].filter((other) => leadsTo(other, source)).map((other) => `${source} -> ${other}`),
  );
}
