import type { Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { loginCommand, type ServerState } from '../../domain/gateway/tool-call-error.ts';
import { withoutUndefined } from '../../domain/values/json.ts';
import type { Definitions } from '../ports/kept-definitions.ts';
import type { RunningServer } from './server-definition.ts';

export type ServerStatus = ReturnType<typeof toStatus>;

interface Life {
  readonly state: ServerState;
  readonly since: Date;
  readonly starts: number;
  readonly lastError: string | undefined;
  /** The known description of a server that does not run. */
  readonly kept: Definitions | undefined;
}

/** The state of a server for people and monitoring, with the tools that these rights allow. */
export function toStatus(
  server: RunningServer & Readonly<Record<'tools' | 'changed', readonly GatewayTool[]>>,
  { state, since, starts, lastError, kept }: Life,
  { mayUse }: Rights,
) {
  const { definition, connection } = server;
  const { name, transport } = definition;
  const changed = server.changed.filter(mayUse).map(({ name }) => name);
  return withoutUndefined({
    name,
    transport: connection?.transport ?? transport,
    state,
    since,
    /** The number of starts after the first. */
    restarts: Math.max(0, starts - 1),
    tools: server.tools.filter(mayUse).length,
    /** When the tools were listed, if the server does not run. */
    listedAt: kept?.listedAt,
    /** Tools that are not offered, because they are new or have changed since they were approved. */
    changed: changed.length > 0 ? changed : undefined,
    pid: connection?.pid,
    lastError,
    /** The command with which a person must sign in first. */
    login: state === 'login_required' ? loginCommand(name) : undefined,
    protocolVersion: connection?.protocolVersion,
    serverInfo: (connection ?? kept)?.serverInfo,
  });
}
