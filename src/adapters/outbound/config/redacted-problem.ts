import type { ConfigProblem } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import { MASK, withoutKeyLike } from '../../../domain/redaction.ts';

export function withoutSecrets({ where, value, message, file }: ConfigProblem): ConfigProblem {
  const shown = value === undefined ? undefined : withoutKeyLike(withoutCredentials(value));
  return withoutUndefined({ where: withoutKeyLike(where), value: shown, message: withoutKeyLike(message), file });
}

/** The URL of a proxy or of a server may contain a password or a key in its query, and may be no URL. */
function withoutCredentials(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, `$1${MASK}@`).replace(/([?#])\S+/g, `$1${MASK}`);
}
