import type { ConfigProblem } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { MASK, withoutKeyLike } from '../../../domain/values/redaction.ts';

/** Reports a problem with a key, a variable, an option or a file, and the received value unless it is a secret. */
export type Report = (where: string, message: string, received?: unknown) => void;

/** A function that adds problems to a list. `file` is the file of the keys. */
export function reporter(problems: ConfigProblem[], file?: string): Report {
  return (where, message, received) => {
    const value = received === undefined ? undefined : toText(received);
    problems.push(withoutUndefined({ where, value, message, file }));
  };
}

/** The text of a value. Numbers are not written as JSON, which cannot express `.inf` and `.nan`. */
export function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A problem for display. The URL of a proxy or a server may contain a password, or a key in its query, even if it is malformed. */
export function withoutSecrets({ where, value, message, file, servers }: ConfigProblem): ConfigProblem {
  const shown = value?.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, `$1${MASK}@`).replace(/([?#])\S+/g, `$1${MASK}`);
  return withoutUndefined({
    where: withoutKeyLike(where),
    value: shown === undefined ? undefined : withoutKeyLike(shown),
    message: withoutKeyLike(message),
    file,
    servers,
  });
}
