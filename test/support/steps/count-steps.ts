import { Matcher } from './matcher.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Cost = (subject: unknown, result: unknown, args: readonly unknown[]) => number;

const once: Cost = () => 1;
const ofSubject: Cost = (subject) => (subject as { length: number }).length;
/** The characters from where a search begins to where it ends. */
const ofSearch: Cost = (subject, result, [, from = 0]) =>
  (result === -1 ? (subject as { length: number }).length : Number(result)) - Number(from) + 1;
const ofResult: Cost = (_, result) => (result as { length: number }).length;

/** The built-in methods that read texts and lists, with the number of entries that they read at most. Others read a few, or call back. */
const READING: readonly (readonly [prototype: object, cost: Cost, names: string])[] = [
  [String.prototype, ofSubject, 'includes lastIndexOf normalize replaceAll split toLowerCase toWellFormed trim'],
  [String.prototype, ofSearch, 'indexOf'],
  [String.prototype, once, 'at charAt charCodeAt codePointAt'],
  [Array.prototype, ofSubject, 'find findIndex findLast findLastIndex includes indexOf join lastIndexOf shift unshift'],
  [Array.prototype, ofResult, 'concat filter flat flatMap map slice splice'],
  [Array.prototype, once, 'pop push'],
  [Map.prototype, once, 'delete get has set'],
  [Set.prototype, once, 'add delete has'],
];

const matchers = new Map<string, Matcher>();

function matcherOf(pattern: RegExp): Matcher {
  const key = String(pattern);
  const known = matchers.get(key) ?? new Matcher(pattern);
  matchers.set(key, known);
  return known;
}

/**
 * Counts what a synchronous function does, without a clock: the characters that its patterns compare, also those that they try again, and the entries of
 * texts and lists that built-in methods read. The methods are as before when the function has returned. A loop that calls none of them is not counted.
 */
export function stepsOf(run: () => unknown, max: number): number {
  const { exec } = RegExp.prototype;
  const restore: (() => void)[] = [];
  let steps = 0;
  let isCounting = true;
  const count = (more: number) => {
    steps += more;
    if (steps >= max) throw new TooManySteps();
  };
  const replace = (prototype: object, name: string, value: Method) => {
    const before = Object.getOwnPropertyDescriptor(prototype, name);
    Object.defineProperty(prototype, name, { ...before, value });
    restore.push(() => Object.defineProperty(prototype, name, before ?? {}));
  };
  /** Runs what is no part of the function. */
  const uncounted = <T>(task: () => T): T => {
    isCounting = false;
    try {
      return task();
    } finally {
      isCounting = true;
    }
  };
  for (const [prototype, costOf, names] of READING)
    for (const name of names.split(' ')) {
      const method = Object.getOwnPropertyDescriptor(prototype, name)?.value as Method;
      replace(prototype, name, function counted(...args) {
        const result = method.apply(this, args);
        if (isCounting) count(costOf(this, result, args));
        return result;
      });
    }
  // Each method that uses a pattern calls `exec` (ECMAScript, RegExpExec).
  replace(RegExp.prototype, 'exec', function counted(value) {
    const pattern = this as RegExp;
    const text = String(value);
    if (!isCounting) return exec.call(pattern, text);
    const from = pattern.global || pattern.sticky ? pattern.lastIndex : 0;
    const { match, steps: taken } = uncounted(() => matcherOf(pattern).search(text, from, max - steps));
    count(taken);
    const found = exec.call(pattern, text);
    const end = found === null ? undefined : found.index + found[0].length;
    if (found?.index !== match?.[0] || end !== match?.[1])
      throw new Error(`${pattern} is not counted correctly in ${JSON.stringify(text.slice(0, 80))}`);
    return found;
  });
  try {
    run();
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
  } finally {
    for (const undo of restore.reverse()) undo();
  }
  return steps;
}

class TooManySteps extends Error {}
