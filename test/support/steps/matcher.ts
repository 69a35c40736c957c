import { compile, type Instruction } from './program.ts';

/** The outcome of a search: the first match, as its begin and end, and the number of steps. */
export interface Counted {
  readonly match: readonly [begin: number, end: number] | undefined;
  readonly steps: number;
}

/** The beginning and the end of a match are no result, but a place where a way ends. */
const [FAILED, TOO_MANY] = [-1, -2];
/** The numbers of a way that was not tried: instruction, place, length of the log, characters that are left to a run, and the instruction of the run. */
const WAY = 5;

/** A list of numbers that grows. It is no array, because the methods of arrays are counted. */
class Numbers {
  #all = new Int32Array(1024);
  length = 0;

  get(at: number): number {
    return this.#all[at] ?? 0;
  }

  set(at: number, value: number): void {
    this.#all[at] = value;
  }

  add(value: number): void {
    if (this.length === this.#all.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this.#all);
      this.#all = larger;
    }
    this.#all[this.length] = value;
    this.length += 1;
  }
}

const isWord = (code: number) =>
  (code > 47 && code < 58) || (code > 64 && code < 91) || code === 95 || (code > 96 && code < 123);
const isLineEnd = (code: number) => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

/**
 * A backtracking matcher, as every engine of JavaScript has one, that counts its steps: each instruction, each character that is compared, and each way
 * that is tried again. Engines skip some of them, but none turns a pattern that takes quadratic time into one that does not.
 */
export class Matcher {
  readonly #code: readonly Instruction[];
  readonly #isUnicode: boolean;
  readonly #isMultiline: boolean;
  readonly #isSticky: boolean;
  readonly #registers: Int32Array;
  readonly #log = new Numbers();
  readonly #ways = new Numbers();
  #text = '';
  #units = new Uint16Array(0);
  #steps = 0;
  #max = 0;
  /** The next instruction, and the place in the text. */
  #pc = 0;
  #at = 0;

  constructor(pattern: RegExp) {
    const { code, registers } = compile(pattern);
    const { unicode, multiline, sticky, flags } = pattern;
    this.#code = code;
    this.#registers = new Int32Array(registers);
    this.#isUnicode = unicode || flags.includes('v');
    [this.#isMultiline, this.#isSticky] = [multiline, sticky];
  }

  /** Finds the first match from a place; stops after `max` steps. */
  search(text: string, from: number, max: number): Counted {
    if (text !== this.#text) {
      this.#text = text;
      const { buffer, byteOffset, length } = Buffer.from(text, 'utf16le');
      this.#units = new Uint16Array(buffer.slice(byteOffset, byteOffset + length));
    }
    [this.#steps, this.#max] = [0, max];
    for (let begin = from; begin <= text.length; begin += sizeOf(this.#next(begin, false))) {
      [this.#log.length, this.#ways.length] = [0, 0];
      this.#registers.fill(-1);
      const end = this.#run(0, begin);
      if (end >= 0) return { match: [begin, end], steps: this.#steps };
      if (end === TOO_MANY || this.#isSticky) break;
    }
    return { match: undefined, steps: this.#steps };
  }

  /** The code of the character after or before a place; -1 at an end. */
  #next(at: number, isBack: boolean): number {
    const place = isBack ? at - 1 : at;
    const unit = this.#units[place] ?? -1;
    if (!this.#isUnicode || unit < 0xd800 || unit > 0xdfff) return unit;
    const high = isBack ? (this.#units[place - 1] ?? 0) : unit;
    const low = isBack ? unit : (this.#units[place + 1] ?? 0);
    const isPair = high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
    return isPair ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : unit;
  }

  #write(register: number, value: number): void {
    this.#log.add(register);
    this.#log.add(this.#registers[register] ?? -1);
    this.#registers[register] = value;
  }

  #undoTo(length: number): void {
    const log = this.#log;
    while (log.length > length) {
      this.#registers[log.get(log.length - 2)] = log.get(log.length - 1);
      log.length -= 2;
    }
  }

  #isEdge(kind: string, at: number): boolean {
    const [before, after] = [this.#units[at - 1] ?? -1, this.#units[at] ?? -1];
    if (kind === '^') return before === -1 || (this.#isMultiline && isLineEnd(before));
    if (kind === '$') return after === -1 || (this.#isMultiline && isLineEnd(after));
    return (isWord(before) !== isWord(after)) === (kind === '\\b');
  }

  /** Adds a way that is tried if the present one fails: an instruction at this place, for a run with its number of further characters. */
  #addWay(to: number, left = 0, run = -1): void {
    const ways = this.#ways;
    ways.add(to);
    ways.add(this.#at);
    ways.add(this.#log.length);
    ways.add(left);
    ways.add(run);
  }

  /** Continues with the last way that was not tried, if there is one after `base`. */
  #retreat(base: number): boolean {
    const ways = this.#ways;
    while (ways.length > base) {
      this.#steps += 1;
      const way = ways.length - WAY;
      this.#pc = ways.get(way);
      this.#at = ways.get(way + 1);
      this.#undoTo(ways.get(way + 2));
      const run = this.#code[ways.get(way + 4)];
      if (run?.op !== 'run') {
        ways.length = way;
        return true;
      }
      const left = ways.get(way + 3) - 1;
      // A greedy run gives its last character back, and a lazy one takes another.
      const isBack = run.isLazy === run.isBack;
      const next = this.#next(this.#at, isBack);
      const canGoOn = !run.isLazy || (next >= 0 && run.has(next));
      this.#move(next, isBack);
      ways.set(way + 1, this.#at);
      ways.set(way + 3, left);
      if (left === 0 || !canGoOn) ways.length = way;
      if (canGoOn) return true;
    }
    return false;
  }

  #move(code: number, isBack: boolean): void {
    this.#at += isBack ? -sizeOf(code) : sizeOf(code);
  }

  /** Runs the program from an instruction. Returns the end of the match. */
  #run(start: number, begin: number): number {
    const code = this.#code;
    const base = this.#ways.length;
    this.#pc = start;
    this.#at = begin;
    for (;;) {
      this.#steps += 1;
      if (this.#steps > this.#max) return TOO_MANY;
      const one = code[this.#pc];
      let isMatch = true;
      this.#pc += 1;
      switch (one?.op) {
        case undefined:
        case 'end':
          // A lookaround that has matched is not tried again.
          this.#ways.length = base;
          return this.#at;
        case 'set': {
          const next = this.#next(this.#at, one.isBack);
          isMatch = next >= 0 && one.has(next);
          this.#move(next, one.isBack);
          break;
        }
        case 'run': {
          const most = one.isLazy ? one.min : one.max;
          let taken = 0;
          for (; taken < most; taken += 1) {
            const next = this.#next(this.#at, one.isBack);
            if (next < 0 || !one.has(next)) break;
            this.#move(next, one.isBack);
          }
          this.#steps += taken;
          isMatch = taken >= one.min;
          const left = one.isLazy ? Math.min(one.max, MAX_RUN) - taken : taken - one.min;
          if (isMatch && left > 0) this.#addWay(this.#pc, left, this.#pc - 1);
          break;
        }
        case 'edge':
          isMatch = this.#isEdge(one.kind, this.#at);
          break;
        case 'either':
          this.#addWay(one.other);
          break;
        case 'jump':
          this.#pc = one.to;
          break;
        case 'write':
          this.#write(one.register, one.value ?? this.#at);
          break;
        case 'count':
          this.#write(one.counter, (this.#registers[one.counter] ?? 0) + 1);
          this.#write(one.counter + 1, this.#at);
          for (let register = 2 * one.groups[0]; register < 2 * one.groups[1] + 2; register += 1)
            this.#write(register, -1);
          break;
        case 'again': {
          const rounds = this.#registers[one.counter] ?? 0;
          if (rounds < one.min) break;
          // A round that matches nothing would be repeated for ever.
          isMatch = rounds === one.min || this.#registers[one.counter + 1] !== this.#at;
          const mayRepeat = isMatch && rounds < one.max;
          if (mayRepeat) this.#addWay(one.isLazy ? this.#pc : one.exit);
          if (one.isLazy || !mayRepeat) this.#pc = one.exit;
          break;
        }
        case 'look': {
          const undo = this.#log.length;
          const at = this.#at;
          const end = this.#run(this.#pc, at);
          if (end === TOO_MANY) return TOO_MANY;
          isMatch = end >= 0 !== one.isNegative;
          if (one.isNegative || !isMatch) this.#undoTo(undo);
          this.#at = at;
          this.#pc = one.exit;
          break;
        }
        case 'repeated': {
          const [from = -1, to = -1] = [this.#registers[2 * one.group], this.#registers[2 * one.group + 1]];
          const wanted = from < 0 || to < 0 ? '' : this.#text.slice(from, to);
          this.#steps += wanted.length;
          isMatch = one.isBack ? this.#text.endsWith(wanted, this.#at) : this.#text.startsWith(wanted, this.#at);
          this.#at += one.isBack ? -wanted.length : wanted.length;
        }
      }
      if (!isMatch && !this.#retreat(base)) return FAILED;
    }
  }
}

/** A run without an end, as a number of characters. */
const MAX_RUN = 2 ** 30;

function sizeOf(code: number): number {
  return code > 0xffff ? 2 : 1;
}
