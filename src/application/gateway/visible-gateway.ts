import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { untilAborted } from '../async/deadline.ts';
import type { GatewayServer, Viewer } from './gateway-server.ts';
import type { ServerStatus } from './server-description.ts';

/** The servers and tools that exist for a caller. Rights of a call are checked by the catalogue. */
export interface VisibleGateway {
  readonly servers: readonly ServerStatus[];
  /** The tools of the servers that are available, or start with a call. */
  readonly tools: readonly GatewayTool[];
  /** The tools of these servers that are not offered. */
  readonly changed: readonly GatewayTool[];
  /** The time limit of a call, in milliseconds; undefined if there is no such server. */
  timeoutOf(server: string): number | undefined;
  /** Whether callers can use the tools of a server: it is available, or starts with a call. */
  isOffered(server: string): boolean;
  /** Resolves when the lists of these servers are known, or could not be read, after `maxMs`, or when `signal` aborts. */
  whenListed(maxMs: number, signal: AbortSignal, servers?: readonly string[]): Promise<void>;
  /** Resolves when every start in progress has settled, whether lists are known or not. */
  whenStarted(maxMs: number, signal: AbortSignal, servers?: readonly string[]): Promise<void>;
  /** Resolves when it is known at which servers the caller has a login, or when `signal` aborts. */
  whenLooked(signal: AbortSignal): Promise<void>;
}

/** All servers and tools. */
interface WholeGateway extends Omit<VisibleGateway, 'whenLooked'> {
  readonly serverNames: readonly string[];
}

/** The servers and tools of a gateway that a caller sees, each as it is at the time of the question. */
export function visibleTo(
  by: Viewer,
  all: WholeGateway,
  byName: () => ReadonlyMap<string, GatewayServer>,
): VisibleGateway {
  const { rights } = by;
  return {
    get servers() {
      const seen = [...byName()].filter(([name]) => rights.sees(name));
      return seen.map(([, server]) => server.statusFor(by));
    },
    get tools() {
      return all.tools.filter(rights.mayUse);
    },
    get changed() {
      return all.changed.filter(rights.mayUse);
    },
    timeoutOf: (server) => (rights.sees(server) ? all.timeoutOf(server) : undefined),
    isOffered: (server) => rights.sees(server) && all.isOffered(server),
    whenListed: (maxMs, signal, servers = all.serverNames) =>
      all.whenListed(maxMs, signal, servers.filter(rights.sees)),
    whenStarted: (maxMs, signal, servers = all.serverNames) =>
      all.whenStarted(maxMs, signal, servers.filter(rights.sees)),
    whenLooked: async (signal) => {
      const seen = [...byName()].filter(([name, { perCaller }]) => perCaller !== undefined && rights.sees(name));
      if (seen.length > 0) await untilAborted(Promise.all(seen.map(([, server]) => server.look(by))), signal);
    },
  };
}
