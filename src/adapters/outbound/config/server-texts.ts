import { isObject } from '../../../domain/json.ts';
import type { Environment } from './environment.ts';

/** Reports a problem with a key of a server; the key is '' if the problem is with the server itself. */
export type Report = (key: string, message: string, received?: unknown) => void;

const NO_NUL = 'expected a text without NUL characters';

/** A text of the configuration, with the name of its variable, header or parameter, which says whether it is a secret. */
export type NamedText = readonly [name: string, text: string];

/** The variables that a configuration may refer to, and those that it referred to. */
export interface Variables {
  readonly environment: Environment;
  readonly expanded: NamedText[];
}

/** Replaces `${NAME}` and `${NAME:-default}`. An empty variable counts as missing (ruling G1). */
export function readText(text: string, key: string, { environment, expanded }: Variables, problem: Report): string {
  const read = text.replace(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_, name: string, fallback: string | undefined) => {
      const value = environment[name] || fallback;
      if (value === undefined) problem(key, `the environment variable ${name} is not set`);
      else expanded.push([name, value]);
      return value ?? '';
    },
  );
  // Node.js would refuse it when the server starts, with a message that shows the text.
  if (read.includes('\0')) problem(key, NO_NUL);
  return read;
}

export function readArgs(value: unknown, variables: Variables, problem: Report): readonly string[] {
  if (value == null) return [];
  if (Array.isArray(value) && value.every(isScalar)) {
    return value.map((arg, index) => readText(String(arg), `args[${index}]`, variables, problem));
  }
  problem('args', 'expected a list of texts', value);
  return [];
}

/** Reads `envs` or `headers`. No value of them is shown: it may be a secret. */
export function readMap(
  value: unknown,
  key: string,
  variables: Variables,
  problem: Report,
): Readonly<Record<string, string>> {
  if (value == null) return {};
  if (!isObject(value)) {
    problem(key, 'expected a map of names to texts');
    return {};
  }
  const entries = Object.entries(value).map(([name, text]) => {
    if (name.includes('\0')) problem(key, NO_NUL);
    if (!isScalar(text)) problem(`${key}.${name}`, 'expected a text');
    return [name, isScalar(text) ? readText(String(text), `${key}.${name}`, variables, problem) : ''] as const;
  });
  return Object.fromEntries(entries);
}

/** Whether `fetch` accepts a header. */
export function isSendable(name: string, value: string): boolean {
  try {
    new Headers({ [name]: value });
    return true;
  } catch {
    return false;
  }
}

/** Numbers and booleans are what they look like in YAML (`PORT: 8080`). */
function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
