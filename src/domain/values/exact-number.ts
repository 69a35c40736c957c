/** `JSON.rawJSON` writes a text as it is: Node.js 22 and later. */
const { rawJSON, isRawJSON } = JSON as {
  readonly rawJSON?: (text: string) => object;
  readonly isRawJSON?: (value: unknown) => boolean;
};

/** Whether `JSON.stringify` can write a number with any digits. Where it cannot, only `toJsonText` does. */
export const WRITES_DIGITS = rawJSON !== undefined;

/** How often one was written, which shows whether a text contains any: looking for them in each value would cost more than to write it. */
let written = 0;

/** A number of JSON with digits that a number of JavaScript would change, such as an integer beyond 2^53 or 1e400. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** The digits; as a text where `JSON.stringify` cannot write them, because a text is not changed in silence. */
  toJSON(): unknown {
    written += 1;
    return rawJSON === undefined ? this.source : rawJSON(this.source);
  }

  toString(): string {
    return this.source;
  }
}

/** Whether a value is what `toJSON` returned, as a replacer of `JSON.stringify` gets it. */
export function isWrittenNumber(value: unknown): boolean {
  return isRawJSON?.(value) === true;
}

/** Matches each text with such a number. A text without one may match, too, but few do. */
const MAY_CHANGE = /(?:^|[\s:,[])-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})/;

/** Whether a JSON text may contain such a number. */
export function mayBeInexact(text: string): boolean {
  return MAY_CHANGE.test(text);
}

/** The value of a valid JSON text with every digit. `parsed` is the value that `JSON.parse` returns for it. */
export function withExactNumbers(text: string, parsed: unknown): unknown {
  if (!mayBeInexact(text)) return parsed;
  return WRITES_DIGITS ? parseWithSource(text) : parseMarked(text, parsed);
}

type Context = { readonly source?: string };

function parseWithSource(text: string): unknown {
  const revive = (_: string, value: unknown, { source }: Context = {}) =>
    typeof value !== 'number' || source === undefined || isExact(source) ? value : new ExactNumber(source);
  return JSON.parse(text, revive);
}

/** The strings and numbers of a valid JSON text. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Reads the numbers as strings that begin with a mark which no other string contains. */
function parseMarked(text: string, parsed: unknown): unknown {
  const mark = unusedMark(JSON.stringify(parsed));
  const marked = text.replace(TOKEN, (token) =>
    token.startsWith('"') || isExact(token) ? token : `"${mark}${token}"`,
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

/** Whether a number of JavaScript has the value of these digits. */
function isExact(source: string): boolean {
  return normalized(source) === normalized(String(Number(source)));
}

/** Significant digits and exponent. */
function normalized(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  let { length } = digits;
  while (digits[length - 1] === '0') length -= 1;
  if (length === 0) return whole;
  return `${sign}${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`;
}

/** The first such number in a value of JSON, with its path (a JSON pointer). */
export function exactNumberIn(
  value: unknown,
  path = '',
): { readonly path: string; readonly source: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof ExactNumber) return { path, source: value.source };
  for (const [name, member] of Object.entries(value)) {
    const found = exactNumberIn(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A value of JSON with the nearest numbers of JavaScript, for programs that compare it with a schema. The same value if nothing changes. */
export function rounded<T>(value: T): T {
  return (exactNumberIn(value) === undefined ? value : toRounded(value)) as T;
}

/** A description whose numbers this version of Node.js can write: a text in place of a number would make a schema invalid. */
export function writable<T>(value: T): T {
  return WRITES_DIGITS ? value : rounded(value);
}

function toRounded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ExactNumber)
    return Math.min(Math.max(Number(value.source), -Number.MAX_VALUE), Number.MAX_VALUE);
  if (Array.isArray(value)) return value.map(toRounded);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toRounded(member)]));
}

/** The JSON text of a value, with every digit on every version of Node.js. `indent` is in spaces per level. */
export function toJsonText(value: unknown, indent?: number): string {
  const before = written;
  const json = JSON.stringify(value, undefined, indent);
  if (WRITES_DIGITS || written === before) return json;
  const mark = unusedMark(json);
  const marked = function (this: Readonly<Record<string, unknown>>, name: string, member: unknown) {
    const own = this[name];
    return own instanceof ExactNumber ? `${mark}${own.source}` : member;
  };
  return JSON.stringify(value, marked, indent).replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

/** A text that no string of this JSON contains. */
function unusedMark(json: string): string {
  const used = json.match(/#+/g) ?? [];
  return '#'.repeat(1 + used.reduce((longest, { length }) => Math.max(longest, length), 0));
}
