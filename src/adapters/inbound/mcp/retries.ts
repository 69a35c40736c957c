import type { CallIdentity, OpenCall } from '../../../application/tools/open-call.ts';
import type { OpenCalls } from '../../../application/tools/open-calls.ts';
import { type CallOrigin, idOfCaller } from '../../../domain/gateway/call-origin.ts';
import { actionsIn, type Retry } from '../../../domain/gateway/elicitation.ts';
import { isObject, sortedJson, withoutUndefined } from '../../../domain/values/json.ts';
import type { Params } from './json-rpc.ts';

/** A request that may be answered by a question, or repeats one to answer (MCP 2026-07-28). */
export interface Repeatable {
  /** Made when it is needed, because arguments may be large. */
  readonly identity: () => CallIdentity;
  /** What the client adds to a repeated request. */
  readonly retry?: Retry | undefined;
  /** The call that the request continues. */
  readonly open?: OpenCall | undefined;
}

interface RepeatableRequest {
  readonly method: string;
  readonly params: Params;
  readonly by: Pick<CallOrigin, 'caller' | 'subject'>;
}

/** Reads what identifies a request, and what it adds if it is repeated. */
function toRepeatable({ method, params, by }: RepeatableRequest): Repeatable {
  const { inputResponses, requestState, name, uri, arguments: args } = params;
  const retry: Retry = withoutUndefined({
    inputResponses: isObject(inputResponses) ? inputResponses : undefined,
    requestState: typeof requestState === 'string' ? requestState : undefined,
  });
  const identity = () => {
    const request = sortedJson([method, name ?? null, uri ?? null, args ?? {}]);
    return { caller: idOfCaller(by), request };
  };
  return Object.keys(retry).length === 0 ? { identity } : { identity, retry };
}

/** Whether a request continues a call that has begun, so that it is not another one. Does not use up the state. */
export function continuesCall(openCalls: OpenCalls | undefined, request: RepeatableRequest): boolean {
  const { identity, retry } = toRepeatable(request);
  return retry?.requestState !== undefined && openCalls?.continues(retry.requestState, identity()) === true;
}

/** Takes the call that a request continues. `other`: the state belongs to another request. */
export function takeOpen(openCalls: OpenCalls | undefined, request: RepeatableRequest): Repeatable | 'other' {
  const { identity, retry } = toRepeatable(request);
  if (retry === undefined) return { identity };
  const { requestState } = retry;
  const taken = requestState === undefined ? undefined : openCalls?.take(requestState, identity());
  if (taken === 'other') return taken;
  const answered = [...(taken?.answered ?? []), ...actionsIn(retry)];
  return { identity, retry: { ...retry, answered }, open: taken?.open };
}
