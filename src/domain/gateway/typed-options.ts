/** The options that decide which servers there are. */
const REPEATED = ['--config', '--servers'];

/**
 * The typed `--config` and `--servers`, quoted for a shell, after a space; or ''. Commands in messages repeat these options, because without them
 * they would know other servers.
 */
export function typedOptions(typed: Readonly<Record<string, string>>): string {
  return REPEATED.filter((name) => name in typed)
    .map((name) => ` ${name} ${quoted(typed[name] ?? '')}`)
    .join('');
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
