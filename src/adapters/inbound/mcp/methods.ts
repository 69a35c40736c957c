import { TOOL_NAMES } from '../../../domain/answers/tool-name.ts';
import { BUILT_IN_SERVER, type CallOrigin, EVERYTHING } from '../../../domain/gateway/call-origin.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { MCP } from '../words/mcp-messages.ts';
import { checkEnvelope, type Era, LEGACY_VERSION, MODERN_VERSION, type ServerInfo } from './era.ts';
import { invalidParams, methodNotFound, type RequestMessage } from './json-rpc.ts';
import { cachingFor, pageOf } from './pages.ts';
import type { GatewayMethods } from './shared-methods.ts';
import type { Reply, ToolSet } from './tool-set.ts';

/** A request whose `params` are an object, in an era whose requirements it meets. */
export interface Request extends Omit<RequestMessage, 'kind'> {
  readonly params: JsonObject;
  readonly era: Era;
  readonly by: CallOrigin;
}

export type SharedMethods = Pick<GatewayMethods, 'has' | 'capabilities' | 'call'>;

export interface ServerDescription {
  readonly tools: ToolSet;
  readonly serverInfo: ServerInfo;
  /** Another line of instructions. */
  readonly moreInstructions?: string | undefined;
  /** Undefined if clients do not see what servers have. */
  readonly shared?: SharedMethods | undefined;
}

/** Responds to every request except `tools/call` and those of servers, which have `sharedCapabilities`. */
export function respond(
  { method, params, era, by }: Request,
  { serverInfo, tools, moreInstructions, shared }: ServerDescription,
  sharedCapabilities: JsonObject = {},
): Reply {
  const rights = by.rights;
  const isFixed = tools.isDynamic !== true && rights === EVERYTHING;
  const describe = (listChanged: boolean) => {
    const answerTools = TOOL_NAMES.filter((name) => rights.mayUse({ server: BUILT_IN_SERVER, name })).length;
    const ofAnswers = answerTools > 0 ? [MCP.instructions(answerTools === TOOL_NAMES.length), moreInstructions] : [];
    const instructions = [...ofAnswers, tools.instructions].filter((text) => text !== undefined).join('\n');
    return {
      capabilities: { tools: listChanged ? { listChanged } : {}, ...sharedCapabilities },
      ...(instructions !== '' && { instructions }),
    };
  };
  switch (`${era} ${method}`) {
    case 'legacy initialize':
      return {
        result: { protocolVersion: LEGACY_VERSION, serverInfo, ...describe(tools.notifiesOfChanges === true) },
      };
    case 'legacy ping':
      return { result: {} };
    case 'modern server/discover':
      return {
        result: {
          supportedVersions: [MODERN_VERSION],
          ...describe(tools.notifiesOfChanges === true),
          ...cachingFor(rights, shared === undefined || isFixed),
        },
      };
    case 'legacy tools/list':
    case 'modern tools/list': {
      const page = pageOf('tools', tools.list(rights), params.cursor);
      if (page === undefined) return { error: invalidParams('unknown cursor') };
      return { result: { ...page, ...(era === 'modern' && cachingFor(rights, isFixed)) } };
    }
    case 'legacy server/discover':
      // A probe without `_meta`: after any error, the client continues with initialize.
      return { error: checkEnvelope(params) ?? invalidParams('_meta is missing') };
    default:
      return methodNotFound(method);
  }
}
