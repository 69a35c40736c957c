import type { ConfigProblem } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import { createRedactor, MASK } from '../../../domain/redaction.ts';

export function withoutSecrets({ where, value, message, file }: ConfigProblem): ConfigProblem {
  const { inLogs } = createRedactor([]);
  const shown = value === undefined ? undefined : inLogs(withoutCredentials(value));
  return withoutUndefined({ where: inLogs(where), value: shown, message: inLogs(message), file });
}

/** The URL of a proxy or of a server may contain a password, and may have no scheme. */
function withoutCredentials(text: string): string {
  return text.replace(/(^|\/\/)[^/\s]*@/g, `$1${MASK}@`);
}
