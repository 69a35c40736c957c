import { type Node, type Pattern, parsePattern } from './pattern.ts';

/** Whether a set has a character, by its code. */
export type CharacterSet = (code: number) => boolean;

/** The instructions of a backtracking matcher. `isBack`: the pattern is matched from its end, within a lookbehind. */
export type Instruction =
  | { readonly op: 'set'; readonly has: CharacterSet; readonly isBack: boolean }
  | {
      readonly op: 'run';
      readonly has: CharacterSet;
      readonly isBack: boolean;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
    }
  | { readonly op: 'edge'; readonly kind: string }
  | { readonly op: 'either'; other: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'write'; readonly register: number; readonly value: number | undefined }
  | { readonly op: 'count'; readonly counter: number; readonly groups: readonly [from: number, to: number] }
  | {
      readonly op: 'again';
      readonly counter: number;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
      exit: number;
    }
  | { readonly op: 'look'; readonly isNegative: boolean; exit: number }
  | { readonly op: 'repeated'; readonly group: number; readonly isBack: boolean }
  | { readonly op: 'end' };

export interface Program {
  readonly code: readonly Instruction[];
  /** The number of registers: begin and end of each group, then count and place of each repetition. */
  readonly registers: number;
}

export function compile({ source, flags }: RegExp): Program {
  const sets = new Map<string, CharacterSet>();
  const setOf = (set: string) => {
    const known = sets.get(set) ?? characterSet(set, flags);
    sets.set(set, known);
    return known;
  };
  return toProgram(parsePattern(source, /[uv]/.test(flags)), setOf);
}

/** A table of the characters of which it was asked, because the built-in engine decides about each once. */
function characterSet(set: string, flags: string): CharacterSet {
  const one = new RegExp(`^(?:${set})$`, flags.replace(/[gymd]/g, ''));
  const known = new Uint8Array(0x10000);
  return (code) => {
    const before = known[code] ?? 0;
    if (before !== 0) return before === 1;
    const has = one.test(String.fromCodePoint(code));
    known[code] = has ? 1 : 2;
    return has;
  };
}

function toProgram({ root, groups, names }: Pattern, setOf: (set: string) => CharacterSet): Program {
  const code: Instruction[] = [];
  let registers = 2 * (groups + 1);
  const add = <T extends Instruction>(instruction: T): T => {
    code.push(instruction);
    return instruction;
  };
  const addChoice = (ways: readonly (readonly Node[])[], isBack: boolean) => {
    const ends: { to: number }[] = [];
    ways.forEach((way, index) => {
      const either = index < ways.length - 1 ? add({ op: 'either', other: 0 }) : undefined;
      for (const node of isBack ? way.toReversed() : way) visit(node, isBack);
      if (either === undefined) return;
      ends.push(add({ op: 'jump', to: 0 }));
      either.other = code.length;
    });
    for (const end of ends) end.to = code.length;
  };
  const addMany = ({ inner, min, max, isLazy, groups }: Extract<Node, { kind: 'many' }>, isBack: boolean) => {
    if (inner.kind === 'set') return void add({ op: 'run', has: setOf(inner.source), isBack, min, max, isLazy });
    const counter = registers;
    registers += 2;
    add({ op: 'write', register: counter, value: 0 });
    add({ op: 'write', register: counter + 1, value: -1 });
    const begin = code.length;
    const again = add({ op: 'again', counter, min, max, isLazy, exit: 0 });
    add({ op: 'count', counter, groups });
    visit(inner, isBack);
    add({ op: 'jump', to: begin });
    again.exit = code.length;
  };
  const visit = (node: Node, isBack: boolean): void => {
    switch (node.kind) {
      case 'set':
        return void add({ op: 'set', has: setOf(node.source), isBack });
      case 'edge':
        return void add({ op: 'edge', kind: node.source });
      case 'repeated':
        return void add({ op: 'repeated', group: names.get(node.name) ?? Number(node.name), isBack });
      case 'choice':
        addChoice(node.ways, isBack);
        return;
      case 'many':
        addMany(node, isBack);
        return;
      case 'group':
        add({ op: 'write', register: 2 * node.index + (isBack ? 1 : 0), value: undefined });
        visit(node.inner, isBack);
        add({ op: 'write', register: 2 * node.index + (isBack ? 0 : 1), value: undefined });
        return;
      case 'look': {
        const look = add({ op: 'look', isNegative: node.isNegative, exit: 0 });
        visit(node.inner, node.isBehind);
        add({ op: 'end' });
        look.exit = code.length;
      }
    }
  };
  visit(root, false);
  add({ op: 'end' });
  return { code, registers };
}
