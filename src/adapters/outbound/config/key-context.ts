import type { JsonObject } from '../../../domain/values/json.ts';
import type { readText } from '../files/local-files.ts';
import type { References } from './references.ts';

/** What a key of a client sets: the keys of a server in YAML, by their paths. */
export type Targets = Readonly<Record<string, unknown>>;

/** The entry and the file in which a key is read. */
export interface KeyContext {
  readonly entry: JsonObject;
  readonly name: string;
  /** Whether the client of the file documents a key. */
  readonly documents: (key: string) => boolean;
  /** The folder of the project, at which relative paths start. */
  readonly project: string;
  /** The greatest `timeout` of the client that is in seconds, not in milliseconds. */
  readonly secondsUpTo: number;
  /** Replaces the references of a text, in the form of the client if no other is given. Undefined if one has no value, which is then reported. */
  readonly expand: (text: string, form?: References['form']) => string | undefined;
  /** Reads a file, which is watched from then on. */
  readonly readFile: typeof readText;
  /** The value of a variable of this program; undefined if it is not set. */
  readonly variable: (name: string) => string | undefined;
  /** Reports a problem with the value, so that the server is left out. `member`: a part of the value. */
  readonly report: (message: string, member?: string) => undefined;
  /** Says what is not read, and what to do. */
  readonly notRead: (advice: string) => undefined;
}
