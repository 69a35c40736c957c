import { isObject, type JsonObject } from '../values/json.ts';
import type { GatewayTool } from './gateway-tool.ts';

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

/** Who an issuer says that somebody is (JWT, `iss` and `sub`). */
export interface Subject {
  readonly issuer: string;
  readonly sub: string;
}

/** A text that is different for each caller, also if a claim other than `sub` names two people alike. */
export function idOfCaller({ caller, subject }: Pick<CallOrigin, 'caller' | 'subject'>): string {
  return subject === undefined ? caller : JSON.stringify([caller, subject.issuer, subject.sub]);
}

/** The caller of a tool, and the entry point of the call. */
export interface CallOrigin {
  /** The name of the caller. Calls of different callers share nothing. */
  readonly caller: string;
  /** Who the issuer of the caller's access token says that this is. Absent for other callers. */
  readonly subject?: Subject | undefined;
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

/** A W3C Trace Context and Baggage. Its members are named like the headers, and those of `_meta` in MCP. */
export type TraceContext = { readonly [Name in keyof typeof VALID]?: string };

const VALID = {
  traceparent: /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/,
  // Only characters that a header may have.
  tracestate: /^[\t -~]{1,512}$/,
  baggage: /^[\t -~]{1,8192}$/,
};

/** The context of the first source with a valid `traceparent`, or else of the first with baggage. A source may be of any type. */
export function traceContextOf(...sources: readonly unknown[]): TraceContext | undefined {
  const read = sources.filter(isTraced).map(readContext);
  return read.find(({ traceparent }) => traceparent) ?? read.find(({ baggage }) => baggage);
}

function isTraced(source: unknown): source is JsonObject {
  return isObject(source) && (source.traceparent !== undefined || source.baggage !== undefined);
}

function readContext(source: JsonObject): TraceContext {
  const valid = Object.entries(VALID).filter(([name, pattern]) => {
    const value = source[name];
    return typeof value === 'string' && pattern.test(value);
  });
  const { tracestate, ...context }: TraceContext = Object.fromEntries(valid.map(([name]) => [name, source[name]]));
  return context.traceparent === undefined || tracestate === undefined ? context : { ...context, tracestate };
}

/** The parameters of a request to a server, with its trace. */
export function withTrace(params: JsonObject, trace: TraceContext | undefined): JsonObject {
  return trace === undefined ? params : { ...params, _meta: { ...trace } };
}

export function withoutBaggage(trace: TraceContext | undefined): TraceContext | undefined {
  const { baggage: _, ...rest } = trace ?? {};
  return rest.traceparent === undefined ? undefined : rest;
}
