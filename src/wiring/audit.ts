import { AuditFile } from '../adapters/outbound/audit/audit-file.ts';
import type { ServerConfig } from '../adapters/outbound/config/server-config.ts';
import type { Services } from '../application/ports/services.ts';
import { Audit } from '../application/tools/audit.ts';

/** Opens the audit, without waiting for its file. */
export function openAudit({ file, ...policy }: NonNullable<ServerConfig['audit']>, services: Services): Audit {
  const log = new AuditFile(file, (problem) => services.logger.warn(`audit: ${problem}: ${file}`));
  const audit = new Audit({ ...services, ...policy, log, sha256, newId: () => crypto.randomUUID() });
  void audit.open();
  return audit;
}

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');
}
