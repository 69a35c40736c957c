import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { expandPath } from '../files/local-files.ts';
import { shownName } from '../network/environment.ts';
import { type Report, toText } from './problems.ts';

/** What a kind may need to read a value of YAML. */
export interface ReadContext {
  /** The path of the value. */
  readonly where: string;
  /** Relative paths start here. */
  readonly folder: string;
  /** Reports a problem with a member of the value. */
  readonly report: Report;
  /** Replaces the references to variables in a text of a server. */
  readonly expand: (text: string, where: string, report: Report) => string;
}

/** A kind of value: what it accepts, and how it reads a value from YAML and the text of a variable. */
export interface ValueKind<T = unknown> {
  /** Completes "expected ...". */
  readonly accepted: string;
  /** The value as the program uses it, or undefined if it is not accepted. */
  readonly fromYaml: (value: unknown, context: ReadContext) => T | undefined;
  readonly fromText: (text: string) => T | undefined;
  /** The value names a variable that contains a secret, which may have been pasted here by mistake. */
  readonly namesSecret?: true;
  /** The value may contain secrets, and is not shown. */
  readonly isSecret?: true;
  /** The JSON Schema of its values in YAML. Where it cannot say what is accepted, it accepts more. */
  readonly schema: JsonObject;
}

/** A value as a kind reads it. One that is not accepted is reported, unless the kind has done so. */
export function readValue<T>(kind: ValueKind<T>, value: unknown, context: ReadContext): T | undefined {
  let isReported = false;
  const report: Report = (...problem) => {
    isReported = true;
    context.report(...problem);
  };
  const read = kind.fromYaml(value, { ...context, report });
  if (read === undefined && !isReported) reportUnaccepted(kind, value, context.where, report);
  return read;
}

/** Without what may be a secret. */
export function reportUnaccepted(kind: ValueKind, received: unknown, where: string, report: Report): void {
  const shown = kind.namesSecret ? shownName(toText(received)) : received;
  report(where, `expected ${kind.accepted}`, kind.isSecret ? undefined : shown);
}

export function integer(minimum: number, maximum?: number, unit = ''): ValueKind<number> {
  const fromYaml = (value: unknown) => {
    const isAccepted = typeof value === 'number' && Number.isInteger(value) && value >= minimum;
    return isAccepted && value <= (maximum ?? value) ? value : undefined;
  };
  return {
    accepted: `an integer${unit}${maximum === undefined ? `, ${minimum} or greater` : ` from ${minimum} to ${maximum}`}`,
    schema: { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) },
    fromYaml,
    fromText: (text) => (/^[+-]?\d+$/.test(text) ? fromYaml(Number(text)) : undefined),
  };
}

export const milliseconds = (minimum: number) => integer(minimum, undefined, ' of milliseconds');

export function oneOf<const Choice extends string>(choices: readonly Choice[]): ValueKind<Choice> {
  const read = (value: unknown) => choices.find((choice) => choice === value);
  return {
    accepted: `${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`,
    schema: { enum: choices },
    fromYaml: read,
    fromText: (text) => read(text.toLowerCase()),
  };
}

/** The JSON Schema of a text that matches a pattern. White space around a text is ignored. */
export function matching({ source }: RegExp): JsonObject {
  return { type: 'string', pattern: source.replace(/^\^/, '^\\s*').replaceAll(/(?<!\\)\$/g, '\\s*$') };
}

/** A text that matches a pattern, or that a function reads; without surrounding whitespace. Of a function, `pattern` is for the schema. */
export function text<T extends string = string>(
  accepted: string,
  read: RegExp | ((text: string) => T | undefined) = /\S/,
  pattern = read instanceof RegExp ? read : undefined,
): ValueKind<T> {
  const readText = read instanceof RegExp ? (text: string) => (read.test(text) ? (text as T) : undefined) : read;
  const fromText = (text: string) => readText(text.trim());
  return {
    accepted,
    schema: pattern === undefined ? { type: 'string' } : matching(pattern),
    fromText,
    fromYaml: (value) => (typeof value === 'string' ? fromText(value) : undefined),
  };
}

/** The absolute path. In a variable, relative paths start at the current folder. */
export function path(accepted: string): ValueKind<string> {
  const kind = text(accepted);
  const expanded = (path: string | undefined, folder?: string) => path && expandPath(path, folder);
  return {
    ...kind,
    fromYaml: (value, context) => expanded(kind.fromYaml(value, context), context.folder),
    fromText: (text) => expanded(kind.fromText(text)),
  };
}

/** A list of texts, each as in `text`; in a variable they are separated by commas. */
export function listOf<T extends string = string>(
  accepted: string,
  read: RegExp | ((text: string) => T | undefined),
  pattern?: RegExp,
): ValueKind<readonly T[]> {
  const entry = text('', read, pattern);
  const fromYaml = (value: unknown) => {
    const entries = Array.isArray(value)
      ? value.map((text) => (typeof text === 'string' ? entry.fromText(text) : undefined))
      : [undefined];
    return entries.every((entry) => entry !== undefined) ? [...new Set(entries)] : undefined;
  };
  const schema = { type: 'array', items: entry.schema };
  return { accepted, schema, fromYaml, fromText: (text) => fromYaml(text.split(',')) };
}

/** A kind that no variable contains. */
export function yamlOnly<T>(accepted: string, schema: JsonObject, fromYaml: ValueKind<T>['fromYaml']): ValueKind<T> {
  return { accepted, schema, fromYaml, fromText: () => undefined };
}

/** A kind that also accepts some values as they are. */
export function valueOr<const Value, T>(values: readonly Value[], kind: ValueKind<T>, accepted = kind.accepted) {
  return yamlOnly<Value | T>(
    accepted,
    { anyOf: [{ enum: values }, kind.schema] },
    (value, context) => values.find((one) => one === value) ?? kind.fromYaml(value, context),
  );
}

/** A map of names, which match a pattern, to values of a kind. */
export function mapOf<T>(accepted: string, member: ValueKind<T>, names?: RegExp) {
  const schema = { type: 'object', ...(names && { propertyNames: { pattern: names.source } }) };
  return yamlOnly<Readonly<Record<string, T>>>(
    accepted,
    { ...schema, additionalProperties: member.schema },
    (value, context) => {
      if (!isObject(value) || Object.keys(value).some((name) => names?.test(name) === false)) return undefined;
      const entries = Object.entries(value).flatMap(([name, inner]) => {
        const read = readValue(member, inner, { ...context, where: `${context.where}.${name}` });
        return read === undefined ? [] : [[name, read] as const];
      });
      return Object.fromEntries(entries);
    },
  );
}
