import { err } from 'neverthrow';
import type { Elicitation } from '../../domain/gateway/elicitation.ts';
import { type LoginOwner, ownerName, ownerOf } from '../../domain/gateway/login-owner.ts';
import { withDeadline } from '../async/deadline.ts';
import type { FoundTool, ObservedCall, ToolCall, ToolOutcome } from '../tools/tool-call.ts';
import type { GatewayServer } from './gateway-server.ts';
import { callOnServer, findTool, type Servers } from './server-call.ts';
import type { GatewayOptions } from './server-definition.ts';

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
  const owner = ownerOf(call.by);
  const isMissing = outcome.isErr() && outcome.error.kind === 'login_required';
  // A call that was sent is not sent again.
  if (!isMissing || isSent || owner === undefined) return outcome;
  return (await isSignedIn({ server, call, owner, clock: options.clock }, signal)) ? send() : outcome;
}

interface SignIn extends Pick<GatewayOptions, 'clock'> {
  readonly server: GatewayServer;
  readonly call: ObservedCall;
  readonly owner: LoginOwner;
}

/** Asks a caller to sign in, and waits for the login. */
async function isSignedIn({ server, call, owner, clock }: SignIn, signal: AbortSignal): Promise<boolean> {
  const { name, loginUrl: url, questionTimeoutMs, maxConcurrency } = server.common.definition;
  const { elicitations, pause } = call;
  const { perCaller } = server;
  if (perCaller === undefined || url === undefined || !elicitations.canBeAsked('url')) return false;
  const message = perCaller.signInWords(ownerName(owner));
  const elicitation: Elicitation = { server: name, mode: 'url', url, message, params: { mode: 'url', message, url } };
  const goOn = pause();
  try {
    const { outcome } = await withDeadline(clock, questionTimeoutMs, signal, async (limit) => {
      const { action } = await elicitations.ask(elicitation, { questionTimeoutMs, pause, maxConcurrency }, limit);
      while (action === 'accept' && !limit.aborted) {
        if (await perCaller.hasLogin(owner)) return true;
        await clock.sleep(LOOK_MS, limit);
      }
      return false;
    });
    return outcome && !signal.aborted;
  } finally {
    goOn();
  }
}
