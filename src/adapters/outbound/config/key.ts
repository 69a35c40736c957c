import type { ValueKind } from './kinds.ts';

interface KeyOptions<T> {
  readonly default?: T;
  /** The text in the documents for a key without a default. */
  readonly absent?: string;
  /** The environment variable that overrides YAML. */
  readonly variable?: string;
  /** The option of the command line that overrides the variable. */
  readonly option?: string;
  /** Whether other programs use the variable, too. A value that is not accepted is then ignored. */
  readonly isSharedVariable?: true;
}

/** A key of the configuration, or of a server. */
export interface Key<T = unknown> extends KeyOptions<T> {
  /** The purpose of the key, in Markdown, for the documents and the JSON Schema. */
  readonly description: string;
  readonly kind: ValueKind<T>;
}

export interface Section {
  readonly [name: string]: Key | Section;
}

export function key<T, const Options extends KeyOptions<T>>(
  description: string,
  kind: ValueKind<T>,
  options = {} as Options,
) {
  return { description, kind, ...options };
}

/** A key of a map that is the value of another key, whose description covers it. */
export type Member<T = unknown> = Pick<Key<T>, 'kind' | 'default'>;
