import { parseSync, Visitor } from 'rolldown/utils';
import { filesIn } from '../architecture/rules.ts';

/** The exported functions and classes of the files of `src` that have a pattern, as `path#name`. */
export function exportsBesidePatterns(root: string): readonly string[] {
  return filesIn(root, 'src').flatMap(({ path, text }) => {
    const { program } = parseSync(path, text, { lang: 'ts' });
    let patterns = 0;
    const names: string[] = [];
    new Visitor({
      Literal: (node) => {
        if ('regex' in node) patterns += 1;
      },
      NewExpression: ({ callee }) => {
        if (callee.type === 'Identifier' && callee.name === 'RegExp') patterns += 1;
      },
      ExportNamedDeclaration: ({ declaration }) => {
        if (declaration?.type === 'FunctionDeclaration' || declaration?.type === 'ClassDeclaration')
          names.push(declaration.id?.name ?? '');
        if (declaration?.type === 'VariableDeclaration')
          for (const { id, init } of declaration.declarations)
            if (init?.type === 'ArrowFunctionExpression' && id.type === 'Identifier') names.push(id.name);
      },
    }).visit(program);
    return patterns === 0 ? [] : names.map((name) => `${path.replace('src/', '')}#${name}`);
  });
}
