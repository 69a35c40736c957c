import { Audit } from '../../src/application/tools/audit.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { FakeAuditLog } from './fake-audit-log.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** An audit whose lines are in memory, with the IDs `line-1`, `line-2`, ... */
export function startAudit(policy: Partial<ConstructorParameters<typeof Audit>[0]> = {}) {
  const [log, clock, logger, redactor] = [new FakeAuditLog(), new FakeClock(), new RecordingLogger(), createRedactor()];
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `line-${ids}`;
  };
  const options = { arguments: 'names', onFailure: 'refuse', log, clock, logger, redactor, newId } as const;
  const audit = new Audit({ ...options, sha256: async (text) => String(text.length), ...policy });
  return { audit, log, clock, logger, redactor };
}
