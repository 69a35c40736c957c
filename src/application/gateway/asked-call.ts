import { err, ok, type Result } from 'neverthrow';
import { idOfCaller } from '../../domain/gateway/call-origin.ts';
import {
  type Elicitation,
  type ElicitationAnswer,
  parseElicitation,
  type Retry,
} from '../../domain/gateway/elicitation.ts';
import { ELICIT, type InputRequests, withNamedServer } from '../../domain/gateway/input-requests.ts';
import type { ToolCallError, ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../domain/values/json.ts';
import { GrowingWait } from '../async/waits.ts';
import type { Clock } from '../ports/services.ts';
import type { AskedCaller, ServerResult } from '../ports/tool-server.ts';
import type { CallElicitations } from '../tools/call-elicitations.ts';
import type { ObservedCall, ToolReturn } from '../tools/tool-call.ts';
import type { ServerDefinition } from './server-definition.ts';

/** What a call needs to be sent again with answers. */
interface Asking {
  readonly call: ObservedCall;
  readonly asked: AskedCaller;
  readonly clock: Clock;
  readonly send: (retry: Retry | undefined) => Promise<Result<ServerResult, ToolServerError>>;
}

type Outcome = Result<ToolReturn, ToolCallError | ToolServerError>;

/** A server asks to visit URLs before the call can run (MCP 2025-11-25). */
const URLS_REQUIRED = -32042;
/** A server refuses a call, because its caller has not declared a capability (MCP 2026-07-28). */
const CAPABILITY_REQUIRED = -32021;

/** Asks the caller of a call what its server wants to know, and sends the call again with the answers, until the server wants to know no more. */
export async function sendAnswers(
  first: Result<ServerResult, ToolServerError>,
  asking: Asking,
  signal: AbortSignal,
): Promise<Outcome> {
  const wait = new GrowingWait(asking.clock, 1000);
  let outcome = first;
  for (;;) {
    const next = await answersFor(outcome, asking, wait, signal);
    if (!('retry' in next)) return next;
    outcome = await asking.send(next.retry);
  }
}

/** What the call is sent again with, or its outcome. */
async function answersFor(
  outcome: Result<ServerResult, ToolServerError>,
  { call, asked, clock }: Asking,
  wait: GrowingWait,
  signal: AbortSignal,
): Promise<Outcome | { readonly retry: Retry | undefined }> {
  const { elicitations, server } = call;
  if (outcome.isErr()) {
    const isRepeated = await mayRepeat(outcome.error, { server, elicitations, asked }, signal);
    return isRepeated ? { retry: undefined } : withRefusal(err(outcome.error), elicitations);
  }
  const { asks, raw } = outcome.value;
  if (asks === undefined) return withRefusal(outcome, elicitations);
  refuseUnanswerable(asks, elicitations, server);
  if (elicitations.refused !== undefined) return err(elicitations.refused);
  if (elicitations.isRelay)
    return ok({ raw: withNamedServer(raw, asks), content: [], isError: false, isQuestion: true });
  // A server that names no requests may be asked again at once, but not without end.
  if (asks.requests.length === 0) await clock.sleep(wait.next(), signal);
  const isOver = () => signal.aborted || elicitations.refused !== undefined;
  const inputResponses = await answersTo(asks, (elicitation) =>
    isOver() ? undefined : asked.ask(elicitation, signal),
  );
  if (signal.aborted) return err({ kind: 'cancelled' });
  if (elicitations.refused !== undefined) return err(elicitations.refused);
  return { retry: withoutUndefined({ inputResponses, requestState: asks.requestState }) };
}

/** Remembers what a server wants to know, and nobody is asked. */
export function refusalsOf(server: string, elicitations: CallElicitations): AskedCaller['onRefused'] {
  return (why, request, elicitation) => {
    if (elicitation !== undefined) elicitations.refuse(why, elicitation);
    else elicitations.refuseRequests(why, server, request === undefined ? [] : [request]);
  };
}

/** The caller of a call, as its server may ask. */
export function toAsked(
  { by, server, elicitations, pause, on }: ObservedCall,
  { questionTimeoutMs, maxConcurrency }: Pick<ServerDefinition, 'questionTimeoutMs' | 'maxConcurrency'>,
): AskedCaller {
  const limits = { questionTimeoutMs, maxConcurrency, pause };
  return {
    caller: idOfCaller(by),
    declared: elicitations.declared,
    canBeAsked: (mode) => elicitations.canBeAsked(mode),
    ask: (elicitation, signal) => elicitations.ask(elicitation, limits, signal),
    onRefused: refusalsOf(server, elicitations),
    onWaiting: () => on({ kind: 'waiting' }),
    onCompleted: (id) => elicitations.onCompleted(id),
  };
}

/** Whether a call that failed is sent again, because its caller has agreed to visit the URLs that the server requires. */
async function mayRepeat(
  error: ToolServerError,
  { server, elicitations, asked }: Pick<ObservedCall, 'server' | 'elicitations'> & { readonly asked: AskedCaller },
  signal: AbortSignal,
): Promise<boolean> {
  if (requiresElicitation(error)) elicitations.refuseRequests('nobody', server, []);
  const urls = urlsRequired(error, server);
  for (const url of urls) {
    const { action } = await asked.ask(url, signal);
    if (action === 'accept') continue;
    if (!signal.aborted) elicitations.noteDeclined(url);
    return false;
  }
  return urls.length > 0;
}

/** The questions with the URLs that must be visited before a server runs a request; empty if the error is another one. */
export function urlsRequired(error: ToolServerError | ToolCallError, server: string): readonly Elicitation[] {
  if (error.kind !== 'json_rpc' || error.code !== URLS_REQUIRED || !isObject(error.data)) return [];
  const { elicitations: listed } = error.data;
  const all: readonly unknown[] = Array.isArray(listed) ? listed : [];
  return all.flatMap((one) => parseElicitation(server, isObject(one) && { mode: 'url', ...one }, '') ?? []);
}

/** Whether a server refuses a request, because its caller did not declare that it can be asked. */
export function requiresElicitation(error: ToolServerError | ToolCallError): boolean {
  if (error.kind !== 'json_rpc' || error.code !== CAPABILITY_REQUIRED || !isObject(error.data)) return false;
  const { requiredCapabilities } = error.data;
  return isObject(requiredCapabilities) && requiredCapabilities.elicitation !== undefined;
}

/** The outcome of a call whose server got an answer to each question, or else why it has no result. */
export function withRefusal(outcome: Outcome, elicitations: CallElicitations): Outcome {
  const { refused } = elicitations;
  if (refused === undefined) return outcome;
  if (outcome.isOk()) {
    const { content, structuredContent, isError } = outcome.value;
    return err({ ...refused, result: withoutUndefined({ content, structuredContent, isError }) });
  }
  const { error } = outcome;
  if (error.kind === 'json_rpc') {
    const isOwn = error.code === URLS_REQUIRED || error.code === CAPABILITY_REQUIRED;
    const { code, message, data } = error;
    return err({ ...refused, result: isOwn ? undefined : { error: withoutUndefined({ code, message, data }) } });
  }
  return error.kind === 'invalid_result' ? err(refused) : outcome;
}

/** Refuses the requests about which the caller cannot be asked: the call then ends. */
export function refuseUnanswerable({ requests }: InputRequests, elicitations: CallElicitations, server: string): void {
  const { declared, isRelay } = elicitations;
  const unanswerable = requests.filter(([, request, elicitation]) => {
    if (elicitation !== undefined) return !elicitations.canBeAsked(elicitation.mode);
    return !isRelay || !isDeclared(request, declared);
  });
  for (const [, request, elicitation] of unanswerable) {
    if (elicitation !== undefined) elicitations.refuse('nobody', elicitation);
    else elicitations.refuseRequests(request.method === ELICIT ? 'invalid' : 'nobody', server, [request]);
  }
}

/** The capability of a client that a request of a server needs, for requests that a gateway only passes on. */
const CAPABILITIES: Readonly<Record<string, string>> = { 'sampling/createMessage': 'sampling', 'roots/list': 'roots' };

function isDeclared({ method }: JsonObject, declared: JsonObject): boolean {
  const capability = CAPABILITIES[String(method)];
  return capability !== undefined && declared[capability] !== undefined;
}

/** Asks one question after the other. */
async function answersTo(
  { requests }: InputRequests,
  ask: (elicitation: Elicitation) => Promise<ElicitationAnswer> | undefined,
) {
  const answers: [string, ElicitationAnswer][] = [];
  for (const [key, , elicitation] of requests) {
    const answer = elicitation && (await ask(elicitation));
    if (answer === undefined) break;
    answers.push([key, answer]);
  }
  return answers.length === 0 ? undefined : Object.fromEntries(answers);
}
