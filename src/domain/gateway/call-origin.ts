import type { GatewayTool } from './gateway-tool.ts';
import type { TraceContext } from './trace-context.ts';

/** The name under which the answer tools are available beside those of the servers. */
export const BUILT_IN_SERVER = 'openai-responses-mcp';

/** An entry point of the program. `answer` is the model in a grounded answer. */
export type Door = 'rest' | 'mcp' | 'stdio' | 'cli' | 'answer';

/** The parts of a tool that decide about rights. The answer tools belong to the server `BUILT_IN_SERVER`. */
export type UsableTool = Pick<GatewayTool, 'server' | 'name' | 'annotations'>;

/** The rights of a caller. Everything else does not exist for this caller. */
export interface Rights {
  /** Whether every caller has these rights, because there is no section `access`. */
  readonly isForEveryone: boolean;
  /** Whether the caller may restart servers. */
  readonly isOperator: boolean;
  readonly mayReadMetrics: boolean;
  /** Whether no entry of `access` is about the caller. */
  readonly isUnlisted?: boolean;
  /** Whether a server exists for the caller. */
  sees(server: string): boolean;
  mayUse(tool: UsableTool): boolean;
  /** Whether the caller may use the resources and prompts of a server. */
  mayRead(server: string): boolean;
}

const all = () => true;

/** The rights of every caller without `access`. */
export const EVERYTHING: Rights = {
  isForEveryone: true,
  isOperator: true,
  mayReadMetrics: true,
  sees: all,
  mayUse: all,
  mayRead: all,
};

/** The same rights without the program's own tools, other than those with these names. */
export function withoutAnswers(rights: Rights, others: readonly string[]): Rights {
  return {
    ...rights,
    sees: (server) => (server !== BUILT_IN_SERVER || others.length > 0) && rights.sees(server),
    mayUse: (tool) => (tool.server !== BUILT_IN_SERVER || others.includes(tool.name)) && rights.mayUse(tool),
  };
}

/** Whether a tool may be allowed as far as its name decides: only its server says whether it is read-only. */
export function mayUseName(rights: Rights, server: string, name: string): boolean {
  return rights.mayUse({ server, name, annotations: { readOnlyHint: true } });
}

/** The user of this machine, and every caller over HTTP if no token is required. */
export const LOCAL_CALLER = 'local';

/** Matches the name of a caller with a token. */
export const TOKEN_CALLER = /^[\w.@-]+$/;

/** The caller of a tool, and the entry point of the call. */
export interface CallOrigin {
  /** The name of the caller. Calls of different callers share nothing. */
  readonly caller: string;
  readonly door: Door;
  /** The rights when the request arrived: a reload applies to the next request. */
  readonly rights: Rights;
  /** The ID of the request, over REST. */
  readonly requestId?: string | undefined;
  /** For a call of the model: the `id` of the audit line of its answer. */
  readonly answer?: string | undefined;
  readonly trace?: TraceContext | undefined;
}

/** Whether the caller is the user of this machine, and not a caller over HTTP. */
export function isLocal({ door }: CallOrigin): boolean {
  return door === 'stdio' || door === 'cli';
}
