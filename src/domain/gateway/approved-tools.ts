import { rounded } from '../values/exact-number.ts';
import { isObject, isSameJson, type JsonObject, parseJson, sortedJson, withoutUndefined } from '../values/json.ts';
import type { GatewayTool } from './gateway-tool.ts';
import { parseTool } from './listed-tool.ts';

type Names<T> = Readonly<Record<string, T>>;

/** The tools that a person has approved, by server and name, as their servers described them at that time. */
export interface ApprovedTools {
  readonly servers: Names<{ readonly serverInfo?: JsonObject; readonly tools: Names<JsonObject> }>;
}

/** The tools of a server by their own names, before they are renamed; undefined if it is not available. */
export interface ListedServer {
  readonly name: string;
  readonly serverInfo?: JsonObject | undefined;
  readonly tools: readonly GatewayTool[] | undefined;
}

/** Why a tool is not offered. */
export type ToolChange = 'new' | 'changed';

export interface Difference {
  readonly server: string;
  readonly tool: string;
  readonly change: ToolChange | 'removed';
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
}

/** Reads the file of `gateway.lock`; undefined if it is damaged. */
export function parseLock(text: string): ApprovedTools | undefined {
  const lock = parseJson(text);
  const isTool = (value: unknown) =>
    isObject(value) && typeof value.description === 'string' && isObject(value.inputSchema);
  const isServer = (value: unknown) =>
    isObject(value) && isObject(value.serverInfo ?? {}) && isMapOf(value.tools, isTool);
  const isLock = isObject(lock) && lock.version === 1 && isMapOf(lock.servers, isServer);
  return isLock ? { servers: lock.servers as ApprovedTools['servers'] } : undefined;
}

/** The file of `gateway.lock`: the same tools have the same text. */
export function lockText({ servers }: ApprovedTools): string {
  return `${sortedJson({ version: 1, servers }, 2)}\n`;
}

/** The tools as they are now. A server that is not available keeps its earlier ones. */
export function approve(listed: readonly ListedServer[], before: ApprovedTools = { servers: {} }): ApprovedTools {
  const servers = listed.flatMap(({ name, serverInfo, tools }) => {
    const definitions = tools?.map((tool) => [tool.name, toDefinition(tool)] as const);
    const server =
      definitions === undefined
        ? ownMember(before.servers, name)
        : withoutUndefined({ serverInfo, tools: Object.fromEntries(definitions) });
    return server === undefined ? [] : [[name, server] as const];
  });
  return { servers: Object.fromEntries(servers) };
}

/** The approved tools of a server, by its own names. */
export function approvedOf(server: string, { servers }: ApprovedTools): readonly GatewayTool[] {
  const tools = ownMember(servers, server)?.tools ?? {};
  return Object.entries(tools).flatMap(([name, definition]) => parseTool(server, { ...definition, name }) ?? []);
}

/** Undefined if the tool, as its server describes it, is approved. */
export function changeOf(tool: GatewayTool, { servers }: ApprovedTools): ToolChange | undefined {
  const approved = ownMember(ownMember(servers, tool.server)?.tools ?? {}, tool.name);
  if (approved === undefined) return 'new';
  return isSameJson(approved, toDefinition(tool)) ? undefined : 'changed';
}

/** The changes from the approved tools `before` to `after`. */
export function differences(before: ApprovedTools, after: ApprovedTools): readonly Difference[] {
  const [old, current] = [flat(before), flat(after)];
  return [...new Map([...current, ...old])].flatMap(([key, { server, tool }]): readonly Difference[] => {
    const [was, is] = [old.get(key)?.definition, current.get(key)?.definition];
    if (isSameJson(was, is)) return [];
    const change: Difference['change'] = was === undefined ? 'new' : is === undefined ? 'removed' : 'changed';
    return [withoutUndefined({ server, tool, change, before: was, after: is })];
  });
}

export function numberOfTools(approved: ApprovedTools): number {
  return flat(approved).size;
}

/** The tools by `server/tool`. Names of servers have no slash, so the keys are unique. */
function flat({ servers }: ApprovedTools) {
  const tools = Object.entries(servers).flatMap(([server, { tools }]) =>
    Object.entries(tools).map(([tool, definition]) => [`${server}/${tool}`, { server, tool, definition }] as const),
  );
  return new Map(tools);
}

function toDefinition({ server: _, name: _name, ...definition }: GatewayTool): JsonObject {
  // The same lock holds for every version of Node.js.
  return rounded(definition);
}

/** Reads an own member only: a tool may have the name `constructor`. */
function ownMember<T>(map: Names<T>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

function isMapOf(value: unknown, isMember: (member: unknown) => boolean): boolean {
  return isObject(value) && Object.values(value).every(isMember);
}
