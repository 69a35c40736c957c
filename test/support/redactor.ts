import { createRedactor, type Redactor } from '../../src/domain/values/redaction.ts';

/** Knows these keys of the program. */
export function redactorOf(...own: readonly string[]): Redactor {
  const redactor = createRedactor();
  redactor.learn({ own });
  return redactor;
}
