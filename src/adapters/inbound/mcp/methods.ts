import { TOOL_NAMES } from '../../../domain/answers/question.ts';
import { BUILT_IN_SERVER, type CallOrigin, type Rights } from '../../../domain/gateway/call-origin.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { MCP } from '../words/mcp-messages.ts';
import { checkEnvelope, type Era, LEGACY_VERSION, MODERN_VERSION, type ServerInfo } from './era.ts';
import { invalidParams, methodNotFound, type RequestMessage } from './json-rpc.ts';
import { cachingFor, pageOf } from './lists.ts';
import type { GatewayMethods } from './shared-methods.ts';
import type { Reply, ToolSet } from './tool-set.ts';

/** A request whose `params` are an object, in an era whose requirements it meets. */
export interface Request extends Omit<RequestMessage, 'kind'> {
  readonly params: JsonObject;
  readonly era: Era;
  readonly by: CallOrigin;
  /** Cancels the request; without it, the session cancels by the ID of the request. */
  readonly left?: AbortController | undefined;
}

export type SharedMethods = Pick<GatewayMethods, 'has' | 'capabilities' | 'call'>;

export interface ServerDescription {
  readonly tools: ToolSet;
  readonly serverInfo: ServerInfo;
  /** Another line of instructions. */
  readonly moreInstructions?: string | undefined;
  /** Undefined if the resources and prompts of servers are not shared with clients. */
  readonly shared?: SharedMethods | undefined;
}

/** What a client reads first beside the description: capabilities of the shared methods, and at which servers the caller must sign in. */
interface First {
  readonly capabilities?: JsonObject | undefined;
  readonly signIns?: readonly string[] | undefined;
}

/** Responds to every request except `tools/call` and the shared methods. */
export function respond(request: Request, server: ServerDescription, first: First = {}): Reply {
  switch (request.era) {
    case 'legacy':
      return respondToLegacy(request, server, first);
    case 'modern':
      return respondToModern(request, server, first);
  }
}

function respondToLegacy(request: Request, server: ServerDescription, first: First): Reply {
  const { method, params, by } = request;
  switch (method) {
    case 'initialize': {
      const { serverInfo } = server;
      const described = describe(by.rights, server, first);
      return { result: { protocolVersion: LEGACY_VERSION, serverInfo, ...described } };
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return listTools(request, server);
    case 'server/discover':
      // A probe without `_meta`: after any error, the client continues with initialize.
      return { error: checkEnvelope(params) ?? invalidParams('_meta is missing') };
    default:
      return methodNotFound(method);
  }
}

function respondToModern(request: Request, server: ServerDescription, first: First): Reply {
  const { method, by } = request;
  const { rights } = by;
  const tools = isListFixed(rights, server) ? 'fixed' : 'changing';
  switch (method) {
    case 'server/discover': {
      const described = describe(rights, server, first);
      const isPersonal = (first.signIns ?? []).length > 0;
      const caching = cachingFor(rights, server.shared === undefined ? 'fixed' : tools, isPersonal);
      return { result: { supportedVersions: [MODERN_VERSION], ...described, ...caching } };
    }
    case 'tools/list':
      return listTools(request, server, cachingFor(rights, tools));
    default:
      return methodNotFound(method);
  }
}

/** The first pages of lists, so that the same list has the same result. */
const FIRST_PAGES = new WeakMap<object, JsonObject>();

function listTools({ params, by, era }: Request, { tools }: ServerDescription, caching: JsonObject = {}): Reply {
  const list = tools.list(by.rights);
  const isFirst = params.cursor == null;
  const page = (isFirst ? FIRST_PAGES.get(list) : undefined) ?? pageOf('tools', list, params.cursor);
  if (isFirst && page !== undefined) FIRST_PAGES.set(list, page);
  if (isFirst && page !== undefined && era === 'legacy') return { result: page };
  return page === undefined ? { error: invalidParams('unknown cursor') } : { result: { ...page, ...caching } };
}

/** Whether the list of tools stays as it is while the process runs. */
function isListFixed(rights: Rights, { tools }: ServerDescription): boolean {
  return tools.isDynamic !== true && rights.isForEveryone;
}

/** The capabilities and instructions that a client receives first. */
function describe(
  rights: Rights,
  { tools, moreInstructions }: ServerDescription,
  { capabilities, signIns = [] }: First,
) {
  const answerTools = TOOL_NAMES.filter((name) => rights.mayUse({ server: BUILT_IN_SERVER, name })).length;
  const ofAnswers = answerTools > 0 ? [MCP.instructions(answerTools === TOOL_NAMES.length), moreInstructions] : [];
  const instructions = [...ofAnswers, tools.instructions, ...signIns].filter((text) => text !== undefined).join('\n');
  return {
    capabilities: { tools: tools.notifiesOfChanges === true ? { listChanged: true } : {}, ...capabilities },
    ...(instructions !== '' && { instructions }),
  };
}
