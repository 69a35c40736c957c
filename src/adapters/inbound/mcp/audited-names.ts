import { err } from 'neverthrow';
import type { Audit } from '../../../application/audit/audit.ts';
import { isToolName } from '../../../domain/answers/tool-name.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { toolErrorText } from '../words/tool-error-messages.ts';
import { failedResult } from './json-rpc.ts';
import type { OnUnknownTool } from './tool-set.ts';

/** Writes the lines of calls whose name no tool has. Its first `__` ends that of a server; on stdio, one of `servers` may be hidden. */
export function auditedNames(audit: Audit, servers: readonly string[] = []): OnUnknownTool {
  return async ({ name, args, by }, isDenied) => {
    const [, before = '', tool = name] = /^(.*?)__(.*)$/s.exec(name) ?? [];
    const server = isToolName(name) ? BUILT_IN_SERVER : before;
    const unknown = err({ kind: 'unknown_tool' as const });
    const isHidden = isDenied || (servers.includes(server) && !by.rights().sees(server));
    const toEnding = () => ({ outcome: isHidden ? 'denied' : 'unknown_tool' });
    const recorded = await audit.record({ server, tool, args, by }, async () => unknown, toEnding);
    if (recorded.isErr() && recorded.error.kind === 'unknown_tool') return 'unknown_tool';
    return { result: failedResult(toolErrorText({ kind: 'audit_unavailable' })) };
  };
}
