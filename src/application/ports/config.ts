import type { ModelProfiles } from '../../domain/model-profile.ts';
import type { SearchDefaults } from '../../domain/question.ts';

/** What the core is told. */
export interface Config {
  readonly profiles: ModelProfiles;
  readonly searchDefaults: SearchDefaults;
  /** Most citations in an answer, 1 to 10. */
  readonly maxCitations: number;
  /** Longest answer, sources included, in UTF-16 units. */
  readonly maxAnswerChars: number;
  /** Bound of a whole call, waits included, in milliseconds. */
  readonly timeoutMs: number;
  /** The system policy, merged with a policy file where one is configured. */
  readonly instructions: string;
}

/** One thing that is wrong with the configuration: where it stands, what came, what is accepted (ruling 15). */
export interface ConfigProblem {
  /** A key's path (`request.timeout_ms`), a variable's name (`MAX_CITATIONS`), an option or a file. */
  readonly where: string;
  /** The value, a key masked; absent where there is none to show. */
  readonly value?: string;
  readonly accepted: string;
}

/** What was configured, or all that is wrong with it. A plain union: the start pays for every package that it loads. */
export type Checked<T> = { readonly value: T } | { readonly problems: readonly ConfigProblem[] };

/** Where the configuration comes from. Loaded and checked once, at the start, whole. */
export interface ConfigSource<T extends Config = Config> {
  load(): Promise<Checked<T>>;
}

/** What the command line says of the configuration; it overrides environment and YAML (spec 8.1). */
export interface ConfigOptions {
  readonly configPath?: string;
  /** '' for a bare `--debug`, else what stands behind it: a file, or 1, 0, true, false. */
  readonly debug?: string;
  /** '' for a bare `--offline`, else a folder of recordings or one recorded reply. */
  readonly offline?: string;
  /** A folder. */
  readonly record?: string;
  /** '' for a bare `--http`, else an address. */
  readonly http?: string;
  /** The options that were given. */
  readonly names: readonly string[];
}
