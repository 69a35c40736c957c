import { CAPABILITY } from '../../../application/gateway/shared-lists.ts';
import {
  CAPABILITIES,
  type Capability,
  type SharedRequest,
  SharedResources,
} from '../../../application/gateway/shared-resources.ts';
import type { ChangingList } from '../../../application/ports/tool-server.ts';
import type { Rights } from '../../../domain/gateway/call-origin.ts';
import type { Retry } from '../../../domain/gateway/elicitation.ts';
import type { SharedList } from '../../../domain/gateway/shared-entries.ts';
import { isObject } from '../../../domain/values/json.ts';
import { excerpt } from '../words/plain.ts';
import { toolErrorText } from '../words/tool-error-messages.ts';
import { toServerError } from './client-call.ts';
import { askableOf } from './era.ts';
import { INTERNAL, INVALID_PARAMS, invalidParams, methodNotFound, type Params } from './json-rpc.ts';
import { cachingFor, pageOf, SentLists } from './lists.ts';
import type { ServerToolsOptions } from './server-tools.ts';
import type { ClientCall, ToolReply } from './tool-set.ts';

interface Call extends Pick<ClientCall, 'era' | 'by'> {
  /** What a client adds to a request that it repeats. */
  readonly retry?: Retry | undefined;
  readonly method: string;
  readonly params: Params;
}

interface GatewayMethodsOptions extends Pick<ServerToolsOptions, 'gateway' | 'clock' | 'redactor' | 'ownCommand'> {
  /** Whether the client has a session: it is notified of changes, and capabilities are declared before the servers have started. */
  readonly isSession: boolean;
}

/** The code with which MCP before 2026-07-28 reports an unknown resource. */
const RESOURCE_NOT_FOUND = -32002;

const METHODS: Readonly<Record<string, readonly [Capability, SharedList?]>> = {
  'resources/list': ['resources', 'resources'],
  'resources/templates/list': ['resources', 'resourceTemplates'],
  'resources/read': ['resources'],
  'prompts/list': ['prompts', 'prompts'],
  'prompts/get': ['prompts'],
  'completion/complete': ['completions'],
};

/** The methods of MCP for the resources, prompts and completions of the gateway's servers. */
export class GatewayMethods {
  readonly #options: GatewayMethodsOptions;
  #shared: SharedResources | undefined;
  readonly #sent = new SentLists<SharedList>();

  constructor(options: GatewayMethodsOptions) {
    this.#options = options;
  }

  has(method: string): boolean {
    return Object.hasOwn(METHODS, method);
  }

  /** The lists of the client that are no longer the current ones. Returns each only once until the client lists again. */
  takeOutdated(): ReadonlySet<ChangingList> {
    const outdated = this.#sent.takeOutdated((list, rights) => this.#shared?.known(list, { rights }));
    return new Set(outdated.map((list) => CAPABILITY[list]));
  }

  /** Members of the server's `capabilities`. */
  async capabilities(rights: Rights): Promise<Params> {
    const { isSession } = this.#options;
    const declared = isSession ? CAPABILITIES : (await this.#resources())?.capabilities(rights);
    const listChanged = isSession ? { listChanged: true } : {};
    return Object.fromEntries((declared ?? []).map((one) => [one, one === 'completions' ? {} : listChanged]));
  }

  /** Like `ToolSet.call`, for a method that `has` accepts. */
  async call(call: Call, signal: AbortSignal): Promise<ToolReply> {
    const { method, params, by, era } = call;
    const shared = await this.#resources();
    const [capability, list] = METHODS[method] ?? [];
    if (shared === undefined || capability === undefined) return methodNotFound(method);
    const isDeclared = this.#options.isSession || shared.capabilities(by.rights).includes(capability);
    if (!isDeclared) return methodNotFound(method);
    // A change while the list is read is part of it, and needs no notification.
    if (list !== undefined) this.#sent.forget(list);
    const entries = list && (await shared.list(list, params.cursor != null, by));
    if (list === undefined || entries === undefined) return this.#ask(shared, call, signal);
    if (this.#options.isSession) this.#sent.keep(list, entries, by.rights);
    const page = pageOf(list, entries, params.cursor);
    if (page === undefined) return { error: invalidParams('unknown cursor') };
    return { result: { ...page, ...(era === 'modern' && cachingFor(by.rights, 'changing', shared.isPersonal)) } };
  }

  async #ask(
    shared: SharedResources,
    { method, params, era, by, retry }: Call,
    signal: AbortSignal,
  ): Promise<ToolReply> {
    const request = toRequest(method, params);
    if (request === undefined) return { error: invalidParams('the name, uri or ref is not valid') };
    const { inLogs } = this.#options.redactor;
    const { kind, id } = request;
    const declared = era === 'modern' ? askableOf(params) : {};
    const outcome = await shared.ask({ ...request, declared, retry }, by, signal);
    if (outcome.isOk()) {
      if (outcome.value.resultType === 'input_required') return { result: outcome.value };
      const { resultType: _, ...result } = outcome.value;
      // The modern era requires both members, which a server of the legacy era does not send.
      const caching = era === 'modern' && method === 'resources/read' ? { ttlMs: 0, cacheScope: 'private' } : {};
      return { result: { ...caching, ...result } };
    }
    const { error } = outcome;
    if (error.kind === 'cancelled') return 'cancelled';
    if (error.kind === 'json_rpc') return { error: toServerError(error, inLogs) };
    if (error.kind !== 'unknown_server')
      return { error: { ...INTERNAL, message: inLogs(toolErrorText(error, this.#options.ownCommand)) } };
    const code = era === 'legacy' && method === 'resources/read' ? RESOURCE_NOT_FOUND : INVALID_PARAMS;
    return { error: { code, message: `Unknown ${kind}: ${excerpt(id)}` } };
  }

  async #resources(): Promise<SharedResources | undefined> {
    const gateway = await this.#options.gateway();
    if (gateway !== undefined) this.#shared ??= new SharedResources(gateway, this.#options.clock);
    return this.#shared;
  }
}

/** The request for a server; undefined if it names no resource and no prompt. */
function toRequest(
  method: string,
  { uri, name, arguments: args, ref, _meta, ...params }: Params,
): SharedRequest | undefined {
  const about = (kind: SharedRequest['kind'], id: unknown, toParams: SharedRequest['toParams']) =>
    typeof id === 'string' ? { method, kind, id, toParams } : undefined;
  if (method === 'resources/read') return about('resource', uri, (uri) => ({ uri }));
  const prompt = args === undefined ? {} : { arguments: args };
  if (method === 'prompts/get') return about('prompt', name, (name) => ({ name, ...prompt }));
  if (!isObject(ref)) return undefined;
  if (ref.type === 'ref/prompt') return about('prompt', ref.name, (name) => ({ ...params, ref: { ...ref, name } }));
  if (ref.type !== 'ref/resource') return undefined;
  return about('resource', ref.uri, (uri) => ({ ...params, ref: { ...ref, uri } }));
}
