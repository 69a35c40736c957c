import type { JsonObject } from '../../../domain/values/json.ts';
import { MCP } from '../words/mcp-messages.ts';
import { excerpt } from '../words/plain.ts';
import { checkEnvelope, type Era, LEGACY_VERSION, MODERN_VERSION, resultMessage, type ServerInfo } from './era.ts';
import {
  errorMessage,
  invalidParams,
  METHOD_NOT_FOUND,
  type OutgoingMessage,
  type RequestMessage,
} from './json-rpc.ts';
import type { TaskExtension, Tool, ToolSet } from './tool-set.ts';

/** A request whose `params` are an object, in an era whose requirements it meets. */
export interface Request extends Omit<RequestMessage, 'kind'> {
  readonly params: JsonObject;
  readonly era: Era;
}

/** Caching hints (MCP 2026-07-28) for what does not change while the process runs. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' };
/** The same for tools that may change (ruling G23). */
const SHORT_CACHING = { ttlMs: 5000, cacheScope: 'public' };

const PAGE_SIZE = 100;

export interface ServerDescription {
  readonly tools: ToolSet;
  readonly serverInfo: ServerInfo;
  /** Another line of instructions. */
  readonly moreInstructions?: string | undefined;
  /** Undefined if no call becomes a task. */
  readonly tasks?: TaskExtension | undefined;
}

/** Responds to every request except `tools/call` and those of an extension. */
export function respond(
  request: Request,
  { serverInfo, tools, moreInstructions, tasks }: ServerDescription,
): OutgoingMessage {
  const { id, method, params, era } = request;
  const result = (result: JsonObject) => resultMessage(request, result, serverInfo);
  const caching = tools.isDynamic === true ? SHORT_CACHING : CACHING;
  const describe = (listChanged: boolean, more: JsonObject = {}) => ({
    capabilities: { tools: listChanged ? { listChanged } : {}, ...more },
    instructions: moreInstructions === undefined ? MCP.instructions : `${MCP.instructions}\n${moreInstructions}`,
  });
  switch (`${era} ${method}`) {
    case 'legacy initialize':
      return result({ protocolVersion: LEGACY_VERSION, serverInfo, ...describe(tools.notifiesOfChanges === true) });
    case 'legacy ping':
      return result({});
    case 'modern server/discover':
      return result({ supportedVersions: [MODERN_VERSION], ...describe(false, tasks?.capabilities), ...CACHING });
    case 'legacy tools/list':
    case 'modern tools/list': {
      const page = pageOf(tools.list(), params.cursor);
      if (page === undefined) return errorMessage(id, invalidParams('unknown cursor'));
      return result({ ...page, ...(era === 'modern' ? caching : {}) });
    }
    case 'legacy server/discover':
      // A probe without `_meta`: after any error, the client continues with initialize.
      return errorMessage(id, checkEnvelope(params) ?? invalidParams('_meta is missing'));
    default:
      return errorMessage(id, { code: METHOD_NOT_FOUND, message: `Method not found: ${excerpt(method)}` });
  }
}

/** A page of the list. The cursor is the index of its first tool. Undefined for a cursor that was never sent. */
function pageOf(tools: readonly Tool[], cursor: unknown): JsonObject | undefined {
  const start = cursor == null ? 0 : Number(cursor);
  const isKnown = cursor === String(start) && start > 0 && start % PAGE_SIZE === 0 && start < tools.length;
  if (cursor != null && !isKnown) return undefined;
  const end = start + PAGE_SIZE;
  return { tools: tools.slice(start, end), ...(end < tools.length ? { nextCursor: String(end) } : {}) };
}
