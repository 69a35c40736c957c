import { isObject, type JsonObject } from '../values/json.ts';

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
