import { createHash, randomUUID } from 'node:crypto';
import type { CheckedAudit } from '../adapters/inbound/cli/team-checks.ts';
import { auditedNames } from '../adapters/inbound/mcp/audited-names.ts';
import { AuditFile, probeAuditFile } from '../adapters/outbound/audit/audit-file.ts';
import type { ServerConfig } from '../adapters/outbound/config/load-config.ts';
import { Audit } from '../application/audit/audit.ts';
import type { Runtime } from './runtime.ts';

/** Whether the file can be used, which is not opened. */
export function checkedAudit(audit: NonNullable<ServerConfig['audit']>): CheckedAudit {
  return { ...audit, probe: () => probeAuditFile(audit.file) };
}

/** Opens the audit, without waiting for it. Import this only if it is configured. */
export function withAudit(runtime: Runtime, { file, ...policy }: NonNullable<ServerConfig['audit']>): Runtime {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const audit = new Audit({ ...runtime, ...policy, log: new AuditFile(file), sha256, newId: randomUUID });
  void audit.open();
  const { servers = [], gateway, http } = runtime.config;
  // Over HTTP, the gateway knows also the servers that a caller does not see, as they are now.
  const exposed = gateway.expose === false || http !== undefined ? [] : servers.map(({ name }) => name);
  return { ...runtime, audit, onUnknownTool: auditedNames(audit, exposed) };
}
