import type { Redactor } from '../../../domain/values/redaction.ts';

/** The options that decide which servers there are. */
const REPEATED = ['--config', '--servers'];

/** The commands of this program that messages advise. */
const ADVISED = /openai-responses-mcp (?:login [\w.<>-]*[\w>]|tools --\w+)/g;

type TypedOptions = Readonly<Record<string, string>>;

/** Adds the typed `--config` and `--servers` to each command that a message advises: without them, it would know other servers. */
export function withTypedOptions(text: string, typed: TypedOptions): string {
  const options = REPEATED.filter((name) => name in typed).map((name) => ` ${name} ${quoted(typed[name] ?? '')}`);
  return text.replaceAll(ADVISED, (command) => command + options.join(''));
}

/** The redactor of a command, through which all its messages pass. */
export function withAdvice(redactor: Redactor, typed: TypedOptions): Redactor {
  return { ...redactor, inLogs: (text) => withTypedOptions(redactor.inLogs(text), typed) };
}

/** A word for a shell. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
