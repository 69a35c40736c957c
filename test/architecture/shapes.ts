import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import type { SourceFile } from './rules.ts';

/** The limits within which a function can be read without scrolling, and called without counting. */
const MAX_LINES = 60;
const MAX_NESTING = 5;
const MAX_PARAMETERS = 4;

interface Shape {
  readonly name: string;
  readonly lines: number;
  readonly parameters: number;
  /** The number of functions, classes and statements with a body around the deepest statement, itself included. */
  readonly nesting: number;
}

type Func = ESTree.Function | ESTree.ArrowFunctionExpression;

/** The functions that are too long, too deep, or have too many parameters, as `file name: why`. */
export function oversized(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    shapesIn(text).flatMap(({ name, lines, parameters, nesting }) => [
      ...(lines > MAX_LINES ? [`${path} ${name}: ${lines} lines`] : []),
      ...(parameters > MAX_PARAMETERS ? [`${path} ${name}: ${parameters} parameters`] : []),
      ...(nesting > MAX_NESTING ? [`${path} ${name}: ${nesting} levels`] : []),
    ]),
  );
}

/** The functions of a file. A function is as long as its text, with the functions in it; only the outermost has a nesting. */
export function shapesIn(text: string): readonly Shape[] {
  const shapes: { name: string; lines: number; parameters: number; nesting: number }[] = [];
  const open: (typeof shapes)[number][] = [];
  const names: string[] = [];
  let level = 0;
  const enter = () => {
    level += 1;
    const [outermost] = open;
    if (outermost !== undefined) outermost.nesting = Math.max(outermost.nesting, level);
  };
  const leave = () => {
    level -= 1;
  };
  const enterFunction = (node: Func) => {
    const name = ('id' in node && node.id?.name) || names.at(-1) || 'a function';
    const lines = text.slice(node.start, node.end).split('\n').length;
    const shape = { name, lines, parameters: node.params.length, nesting: 0 };
    shapes.push(shape);
    open.push(shape);
    if (node.body?.type === 'BlockStatement') enter();
  };
  const leaveFunction = (node: Func) => {
    if (node.body?.type === 'BlockStatement') leave();
    open.pop();
  };
  const nameOf = (node: ESTree.Node) => text.slice(node.start, node.end);
  const leaveName = () => void names.pop();
  /** `else if` continues its `if`. */
  const continued = new Set<unknown>();
  new Visitor({
    FunctionDeclaration: enterFunction,
    'FunctionDeclaration:exit': leaveFunction,
    FunctionExpression: enterFunction,
    'FunctionExpression:exit': leaveFunction,
    ArrowFunctionExpression: enterFunction,
    'ArrowFunctionExpression:exit': leaveFunction,
    VariableDeclarator: ({ id }) => void names.push(nameOf(id)),
    'VariableDeclarator:exit': leaveName,
    MethodDefinition: ({ key }) => void names.push(nameOf(key)),
    'MethodDefinition:exit': leaveName,
    PropertyDefinition: ({ key }) => void names.push(nameOf(key)),
    'PropertyDefinition:exit': leaveName,
    Property: ({ key }) => void names.push(nameOf(key)),
    'Property:exit': leaveName,
    ClassBody: enter,
    'ClassBody:exit': leave,
    IfStatement: (node) => {
      if (node.alternate?.type === 'IfStatement') continued.add(node.alternate.start);
      if (!continued.has(node.start)) enter();
    },
    'IfStatement:exit': (node) => {
      if (!continued.has(node.start)) leave();
    },
    ForStatement: enter,
    'ForStatement:exit': leave,
    ForOfStatement: enter,
    'ForOfStatement:exit': leave,
    ForInStatement: enter,
    'ForInStatement:exit': leave,
    WhileStatement: enter,
    'WhileStatement:exit': leave,
    DoWhileStatement: enter,
    'DoWhileStatement:exit': leave,
    SwitchStatement: enter,
    'SwitchStatement:exit': leave,
    TryStatement: enter,
    'TryStatement:exit': leave,
  }).visit(parseSync('shapes.ts', text, { lang: 'ts' }).program);
  return shapes;
}
