/** How a person wants to check. Each source is a file, a URL, or `-` for standard input. */
export interface CheckOptions {
  readonly sources: readonly string[];
  readonly json: boolean;
  readonly isStrict: boolean;
  /** Whether pages of other than public addresses may be requested. */
  readonly isPrivate: boolean;
  /** Patterns of URLs that are not checked. */
  readonly ignored: readonly string[];
  /** The time for a page; undefined if it is the default. */
  readonly timeoutMs: number | undefined;
}

const MAX_TIMEOUT_S = 60;

/** The options of a check by their values on the command line, or what is wrong with them. */
export function toCheckOptions(
  words: readonly string[],
  values: Readonly<Record<string, string>>,
): CheckOptions | string {
  const { timeout } = values;
  const seconds = Number(timeout ?? 1);
  if (!(seconds > 0 && seconds <= MAX_TIMEOUT_S)) return `--timeout must be from 1 to ${MAX_TIMEOUT_S} seconds`;
  return {
    sources: words.length === 0 ? ['-'] : words,
    json: 'json' in values,
    isStrict: 'strict' in values,
    isPrivate: 'private' in values,
    ignored: [],
    timeoutMs: timeout === undefined ? undefined : seconds * 1000,
  };
}
