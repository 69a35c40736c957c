import { err } from 'neverthrow';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import type { Elicitation } from '../../domain/gateway/elicitation.ts';
import { ownerName, ownerOf } from '../../domain/gateway/login-owner.ts';
import { withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/services.ts';
import type { FoundTool, ObservedCall, ToolCall, ToolOutcome } from '../tools/tool-call.ts';
import type { GatewayServer } from './gateway-server.ts';
import { callOnServer, findTool, type Servers } from './server-call.ts';
import type { GatewayOptions, ServerDefinition } from './server-definition.ts';

/** How often a login is looked for, which may be made at another process. */
const LOOK_MS = 1000;

/** Finds a tool of a server. Where each caller has a login, a known tool needs no connection. */
export function findToolFor(
  servers: Servers,
  server: GatewayServer,
  call: ToolCall,
  signal: AbortSignal,
): FoundTool | Promise<FoundTool> {
  if (server.perCaller === undefined) return findTool(servers, server.common, call, signal);
  const known = call.exposedName === undefined ? server.common.list.current.byName.get(call.tool)?.tool : undefined;
  if (known !== undefined) return { tool: known };
  const own = server.forRequest(call.by);
  return own.isErr() ? { problem: own.error } : findTool(servers, own.value, call, signal);
}

/** Calls a tool by the connection of the caller. A caller without a login is asked to sign in, if that is possible. */
export async function callAsCaller(
  server: GatewayServer,
  call: ObservedCall,
  options: Pick<GatewayOptions, 'validator' | 'clock'>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  let isSent = false;
  const on: ObservedCall['on'] = (event) => {
    if (event.kind === 'sent') isSent = true;
    call.on(event);
  };
  const send = async (): Promise<ToolOutcome> => {
    const own = server.forRequest(call.by);
    return own.isErr() ? err(own.error) : callOnServer(own.value, { ...call, on }, options, signal);
  };
  const outcome = await send();
  const isMissing = outcome.isErr() && outcome.error.kind === 'login_required';
  // A call that was sent is not sent again.
  if (!isMissing || isSent || !call.elicitations.canBeAsked('url')) return outcome;
  const signIn = await signInFor(server, call.by);
  return signIn && (await isSignedIn(signIn, call, options.clock, signal)) ? send() : outcome;
}

/** How a caller signs in to a server. */
export interface SignIn {
  readonly question: Elicitation;
  /** The limits of the server for a question. */
  readonly limits: Pick<ServerDefinition, 'questionTimeoutMs' | 'maxConcurrency'>;
  /** Waits for another login than the present one, which may be made at another process. False if `limit` aborts first. */
  readonly untilDone: (clock: Clock, limit: AbortSignal) => Promise<boolean>;
}

/** How a caller signs in to a server; undefined if the caller cannot have a login there. */
export async function signInFor(
  { perCaller, common: { definition } }: GatewayServer,
  by: Pick<CallOrigin, 'caller' | 'subject'>,
): Promise<SignIn | undefined> {
  const { name: server, loginUrl: url } = definition;
  const owner = ownerOf(by);
  if (perCaller === undefined || url === undefined || owner === undefined) return undefined;
  // The server may have refused a login that looks as if it could be used.
  const before = await perCaller.loginId(owner);
  const message = perCaller.signInWords(ownerName(owner));
  return {
    question: { server, mode: 'url', url, message, params: { mode: 'url', message, url } },
    limits: definition,
    untilDone: async (clock, limit) => {
      while (!limit.aborted) {
        const id = await perCaller.loginId(owner);
        if (id !== undefined && id !== before) return true;
        await clock.sleep(LOOK_MS, limit);
      }
      return false;
    },
  };
}

/** Asks a caller to sign in, and waits for the login. */
async function isSignedIn(
  { question, limits, untilDone }: SignIn,
  { elicitations, pause }: ObservedCall,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const goOn = pause();
  try {
    const { outcome } = await withDeadline(clock, limits.questionTimeoutMs, signal, async (limit) => {
      const { action } = await elicitations.ask(question, { ...limits, pause }, limit);
      return action === 'accept' && untilDone(clock, limit);
    });
    return outcome && !signal.aborted;
  } finally {
    goOn();
  }
}
