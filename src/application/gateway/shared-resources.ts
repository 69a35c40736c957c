import { err, ok, type Result } from 'neverthrow';
import { type CallOrigin, idOfCaller, type Rights, withTrace } from '../../domain/gateway/call-origin.ts';
import { type Asker, modesOf, parseAnswer, type Retry } from '../../domain/gateway/elicitation.ts';
import { namedRequest, parseInputRequests, withNamedServer } from '../../domain/gateway/input-requests.ts';
import { toServedCompletion, toServedContents, toServedPrompt } from '../../domain/gateway/served-result.ts';
import {
  exposedEntries,
  isUiUri,
  parseGatewayUri,
  type SharedList,
  withExposedContents,
  withExposedLinks,
} from '../../domain/gateway/shared-entries.ts';
import type { ToolCallError, ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { never, untilAborted, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/services.ts';
import type { ServerConnection } from '../ports/tool-server.ts';
import { CallElicitations } from '../tools/call-elicitations.ts';
import { refusalsOf, refuseUnanswerable, requiresElicitation, urlsRequired } from './asked-call.ts';
import { signInFor } from './caller-call.ts';
import { type Gateway, LIST_WAIT_MS } from './gateway.ts';
import type { Viewer } from './gateway-server.ts';
import { runOnServer, withTimeout } from './server-call.ts';
import type { ServerSupervisor } from './server-supervisor.ts';
import { CAPABILITY } from './shared-lists.ts';

/** Capabilities of servers other than tools, as servers declare them. */
export const CAPABILITIES = ['resources', 'prompts', 'completions'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** A request about a prompt or a resource. */
export interface SharedRequest {
  readonly method: string;
  readonly kind: 'prompt' | 'resource';
  /** The exposed name, or the URI. */
  readonly id: string;
  /** The parameters, with the server's own name or URI. */
  readonly toParams: (id: string) => JsonObject;
}

/** A request of a client that can answer a server of MCP 2026-07-28, which may ask before it answers. */
interface AskableRequest extends SharedRequest {
  /** What the client can be asked; empty if nothing. */
  readonly declared?: JsonObject;
  readonly retry?: Retry | undefined;
}

type UsedGateway = Pick<Gateway, 'readable' | 'named' | 'whenListed' | 'connections'>;

/** The resources, prompts and completions of all servers, presented as those of one server. No promise rejects. */
export class SharedResources {
  readonly #gateway: UsedGateway;
  readonly #clock: Clock;

  constructor(gateway: UsedGateway, clock: Clock) {
    this.#gateway = gateway;
    this.#clock = clock;
  }

  /** The capabilities that the servers declare, or last declared. A client asks only once, so that an unknown server counts as having all of them. */
  capabilities(rights: Rights): readonly Capability[] {
    const declared = this.#gateway.readable({ rights }).map(({ description }) => description.known?.capabilities);
    return CAPABILITIES.filter((one) => declared.some((all) => all === undefined || all[one] !== undefined));
  }

  /** The current list of all servers. The known list is used for a server that does not run or answer soon, and for later pages. */
  async list(list: SharedList, isContinued: boolean, by: CallOrigin): Promise<readonly JsonObject[]> {
    const read = async (server: ServerSupervisor, limit: AbortSignal) => {
      await server.whenListed(limit);
      const { connection, description } = server;
      if (connection !== undefined && has(server, CAPABILITY[list]))
        await untilAborted(description.shared.read(list), limit);
    };
    const servers = isContinued ? [] : this.#gateway.readable(by);
    await Promise.all(
      servers.map((server) => withDeadline(this.#clock, LIST_WAIT_MS, never(), (limit) => read(server, limit))),
    );
    return this.known(list, by);
  }

  /** The known list of all servers. */
  known(list: SharedList, by: Viewer): readonly JsonObject[] {
    const servers = this.#gateway.readable(by);
    const entries = servers.flatMap((server) =>
      has(server, CAPABILITY[list]) ? (server.description.shared.entries[list] ?? []) : [],
    );
    return exposedEntries(list, entries, servers.map(nameOf));
  }

  /** Whether callers may have different lists of the same servers. */
  get isPersonal(): boolean {
    return this.#gateway.connections.size > 0;
  }

  /** `unknown_server` means that no server of the caller has such a resource or prompt. A caller without a login is asked to sign in. */
  async ask(request: AskableRequest, by: CallOrigin, signal: AbortSignal): Promise<Result<JsonObject, ToolCallError>> {
    const { kind, id, declared = {}, retry } = request;
    const found = await (kind === 'prompt' ? this.#promptOf(id, by, signal) : this.#resourceOf(id, by, signal));
    if (found === undefined) return UNKNOWN;
    const [seen, own] = found;
    const server = this.#gateway.named(nameOf(seen));
    const signedIn = retry?.inputResponses?.[SIGN_IN];
    const asked = { ...request, own, retry: signedIn === undefined ? retry : undefined };
    const send = async () => {
      const connected = server?.forRequest(by) ?? UNKNOWN;
      return connected.isErr() ? err(connected.error) : this.#send(asked, connected.value, by, signal);
    };
    const outcome = await send();
    const isMissing = outcome.isErr() && outcome.error.kind === 'login_required';
    // No other request may be answered by a question (MCP 2026-07-28).
    const canBeAsked = isMissing && request.method !== COMPLETE && modesOf(declared).includes('url');
    const signIn = canBeAsked && server !== undefined ? await signInFor(server, by) : undefined;
    if (signIn === undefined) return outcome;
    const { question, limits, untilDone } = signIn;
    if (signedIn === undefined)
      return ok({ resultType: 'input_required', inputRequests: { [SIGN_IN]: namedRequest(question) } });
    if (parseAnswer(signedIn)?.action !== 'accept') return outcome;
    const wait = (limit: AbortSignal) => untilDone(this.#clock, limit);
    return (await withDeadline(this.#clock, limits.questionTimeoutMs, signal, wait)).outcome ? send() : outcome;
  }

  async #send(
    { method, kind, id, toParams, declared = {}, retry, own }: AskableRequest & { readonly own: string },
    server: ServerSupervisor,
    by: CallOrigin,
    signal: AbortSignal,
  ): Promise<Result<JsonObject, ToolCallError>> {
    const isPrompt = kind === 'prompt';
    const isCompletion = method === COMPLETE;
    const { timeoutMs, name } = server.definition;
    const asker: Asker = { declared, isRelay: true, ask: async () => 'nobody' };
    const elicitations = new CallElicitations({ asker, clock: this.#clock, onEnded: () => {} });
    const asked = { caller: idOfCaller(by), declared, retry, onRefused: refusalsOf(name, elicitations) };
    const params = withTrace(toParams(own), by.trace);
    const send = async (
      connection: ServerConnection,
      limit: AbortSignal,
    ): Promise<Result<JsonObject, ToolCallError | ToolServerError>> => {
      if (connection.capabilities[isPrompt ? 'prompts' : 'resources'] === undefined) return UNKNOWN;
      const isEmpty = isCompletion && connection.capabilities.completions === undefined;
      return isEmpty ? ok({ completion: { values: [] } }) : connection.request(method, params, limit, asked);
    };
    const outcome = await withTimeout(this.#clock, timeoutMs, signal, (limit) =>
      server.use(() => runOnServer(server, by.caller, (connection) => send(connection, limit), limit), limit),
    );
    if (isCompletion) return outcome.map(toServedCompletion);
    if (outcome.isErr()) {
      if (requiresElicitation(outcome.error)) elicitations.refuseRequests('nobody', name, []);
      for (const url of urlsRequired(outcome.error, name)) elicitations.refuse('nobody', url);
      return err((outcome.error.kind === 'json_rpc' ? elicitations.refused : undefined) ?? outcome.error);
    }
    return outcome.andThen((result) => {
      const asks = parseInputRequests(name, result);
      if (asks !== undefined) refuseUnanswerable(asks, elicitations, name);
      if (elicitations.refused !== undefined) return err(elicitations.refused);
      if (asks !== undefined) return ok(withNamedServer(result, asks));
      return ok(
        isPrompt
          ? withExposedLinks(toServedPrompt(result), name)
          : withExposedContents(toServedContents(result, own), name, own, id),
      );
    });
  }

  /** The server of a URI, and the URI there. A URI without a server belongs to the only server with resources, if there is just one. */
  async #resourceOf(uri: string, by: CallOrigin, signal: AbortSignal) {
    const readable = this.#gateway.readable(by);
    const addressed = parseGatewayUri(uri);
    if (addressed !== undefined) {
      const named = readable.find((server) => nameOf(server) === addressed.server);
      return named && ([named, addressed.uri] as const);
    }
    await this.#whenListed(readable, signal);
    const owners = readable.filter(
      (server) => has(server, 'resources') || server.description.shared.entries.resources !== undefined,
    );
    if (owners.length === 1 && owners[0] !== undefined) return [owners[0], uri] as const;
    if (!isUiUri(uri)) return undefined;
    const lists = await Promise.all(owners.map((owner) => entriesOf(owner, 'resources')));
    const owner = owners[lists.findIndex((entries) => entries.some(({ id }) => id === uri))];
    return owner && ([owner, uri] as const);
  }

  /** The server of a prompt, and its name there. A name that no list has goes to the server that the name begins with, if there is just one. */
  async #promptOf(name: string, by: CallOrigin, signal: AbortSignal) {
    const readable = this.#gateway.readable(by);
    const candidates = readable.filter((server) => name.startsWith(`${nameOf(server)}__`));
    await this.#whenListed(candidates, signal);
    const entries = (await Promise.all(candidates.map((server) => entriesOf(server, 'prompts')))).flat();
    const exposed = exposedEntries('prompts', entries, readable.map(nameOf));
    const found = entries[exposed.findIndex((entry) => entry.name === name)];
    const [server, other] = candidates.filter((one) => found === undefined || nameOf(one) === found.server);
    if (server === undefined || other !== undefined) return undefined;
    return [server, found?.id ?? name.slice(nameOf(server).length + 2)] as const;
  }

  #whenListed(servers: readonly ServerSupervisor[], signal: AbortSignal): Promise<void> {
    return this.#gateway.whenListed(LIST_WAIT_MS, signal, servers.map(nameOf));
  }
}

/** The only request of these that never ends with a question. */
const COMPLETE = 'completion/complete';

/** The key of the question with which the gateway asks a caller to sign in. */
const SIGN_IN = 'gateway.login';

const UNKNOWN = err({ kind: 'unknown_server' as const, server: '', known: [] });

/** The known list of a server. A running server that was never asked is asked first. */
async function entriesOf({ connection, description: { shared } }: ServerSupervisor, list: SharedList) {
  const known = shared.entries[list];
  if (known !== undefined || connection?.capabilities[CAPABILITY[list]] === undefined) return known ?? [];
  return (await shared.read(list)) ?? [];
}

/** Whether a server can be used, and declares this capability. */
function has({ description }: ServerSupervisor, capability: Capability): boolean {
  return description.capabilities?.[capability] !== undefined;
}

function nameOf({ definition }: ServerSupervisor): string {
  return definition.name;
}
