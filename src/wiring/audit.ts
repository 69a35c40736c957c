import { createHash, randomUUID } from 'node:crypto';
import type { CheckedAudit } from '../adapters/inbound/cli/team-checks.ts';
import { AuditFile, probeAuditFile } from '../adapters/outbound/audit/audit-file.ts';
import type { ServerConfig } from '../adapters/outbound/config/load-config.ts';
import { Audit } from '../application/tools/audit.ts';
import type { Runtime } from './runtime.ts';

/** Whether the file can be used, which is not opened. */
export function checkedAudit(audit: NonNullable<ServerConfig['audit']>): CheckedAudit {
  return { ...audit, probe: () => probeAuditFile(audit.file) };
}

/** Opens the audit, without waiting for it. Import this only if it is configured. */
export function withAudit(runtime: Runtime, { file, ...policy }: NonNullable<ServerConfig['audit']>): Runtime {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const log = new AuditFile(file, (problem) => runtime.logger.warn(`audit: ${problem}: ${file}`));
  const audit = new Audit({ ...runtime, ...policy, log, sha256, newId: randomUUID });
  void audit.open();
  return { ...runtime, audit };
}
