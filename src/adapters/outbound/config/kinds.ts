import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { expandPath } from '../files/local-files.ts';
import { shownName } from '../network/environment.ts';
import { type Report, toText } from './problems.ts';

/** The context in which a kind reads a value from YAML. */
export interface ReadContext {
  /** The path of the value. */
  readonly where: string;
  /** The folder at which relative paths start. */
  readonly folder: string;
  /** Reports a problem with a member of the value. */
  readonly report: Report;
  /** Replaces references to variables in a text of a server. */
  readonly expand: (text: string, where: string, report: Report) => string;
}

/** A kind of value: which values are accepted, and how they are read from YAML and from the text of a variable. */
export interface ValueKind<T = unknown> {
  /** Completes "expected ...". */
  readonly accepted: string;
  /** The value as the program uses it, or undefined if it is not accepted. */
  readonly fromYaml: (value: unknown, context: ReadContext) => T | undefined;
  readonly fromText: (text: string) => T | undefined;
  /** Whether the value names a variable with a secret. By mistake, it may be the secret itself. */
  readonly namesSecret?: true;
  /** Whether the value may contain secrets, and is then not shown. */
  readonly isSecret?: true;
  /** The JSON Schema of values in YAML. Where a schema cannot express the rule, it accepts more. */
  readonly schema: JsonObject;
}

/** Reads a value by its kind. A value that is not accepted is reported, unless the kind has already done so. */
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

/** Reports a value that is not accepted, without showing a secret. */
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

/** A text, without surrounding whitespace, that matches a pattern or is read by a function. With a function, `pattern` is for the schema only. */
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

/** A path, which is made absolute. In a variable, relative paths start at the current folder. */
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

/** A kind that a variable cannot set. */
export function yamlOnly<T>(accepted: string, schema: JsonObject, fromYaml: ValueKind<T>['fromYaml']): ValueKind<T> {
  return { accepted, schema, fromYaml, fromText: () => undefined };
}

/** Extends a kind by values that are accepted as they are. */
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
