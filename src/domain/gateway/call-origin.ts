import type { GatewayTool } from './gateway-tool.ts';
import type { TraceContext } from './trace-context.ts';

/** The name under which the answer tools are available beside those of the servers (ruling G1). */
export const BUILT_IN_SERVER = 'openai-responses-mcp';

/** A way into the program; `answer` is the model, in a grounded answer. */
export type Door = 'rest' | 'mcp' | 'stdio' | 'cli' | 'answer';

/** What identifies a tool, and says whether it only reads. The answer tools are those of the server `BUILT_IN_SERVER`. */
export type UsableTool = Pick<GatewayTool, 'server' | 'name' | 'annotations'>;

/** What a caller may use. Everything else does not exist for this caller (ruling T3). */
export interface Rights {
  /** Different rights have different keys. */
  readonly key: string;
  /** Whether the caller may restart servers and read the metrics (ruling T5). */
  readonly isOperator: boolean;
  /** Whether a server exists for the caller. */
  sees(server: string): boolean;
  mayUse(tool: UsableTool): boolean;
  /** Whether the caller may use the resources and prompts of a server (ruling T17). */
  mayRead(server: string): boolean;
}

const all = () => true;
const none = () => false;

/** The rights of every caller without `access`. */
export const EVERYTHING: Rights = { key: '', isOperator: true, sees: all, mayUse: all, mayRead: all };

/** Of a caller whose token was not checked. */
export const NOTHING: Rights = { key: 'none', isOperator: false, sees: none, mayUse: none, mayRead: none };

/** The user of this machine, and every caller over HTTP if no token is required (ruling T2). */
export const LOCAL_CALLER = 'local';

/** Who calls, and through which door. */
export interface CallOrigin {
  /** Its name. Calls of different callers share nothing. */
  readonly caller: string;
  readonly door: Door;
  /** What the caller may use now: a reload during the call may change it. */
  readonly rights: () => Rights;
  /** Called if the rights refuse a tool that exists. */
  readonly onDenied?: (() => void) | undefined;
  /** The ID of the request, over REST. */
  readonly requestId?: string | undefined;
  /** The `id` of the line in the audit of the answer whose model calls. */
  readonly answer?: string | undefined;
  readonly trace?: TraceContext | undefined;
}

/** Whether the caller is the user of this machine, and not a caller over HTTP. */
export function isLocal({ door }: CallOrigin): boolean {
  return door === 'stdio' || door === 'cli';
}

/** Whether a tool that exists may be used. A refusal is noted. */
export function isPermitted({ rights, onDenied }: CallOrigin, tool: UsableTool): boolean {
  const isAllowed = rights().mayUse(tool);
  if (!isAllowed) onDenied?.();
  return isAllowed;
}
