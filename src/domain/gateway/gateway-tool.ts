import type { JsonObject } from '../values/json.ts';

/** A tool of a server (MCP, Tool), in the form in which clients get it. Members that MCP does not specify are as the server wrote them. */
export interface GatewayTool {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  /** Empty if the server gave none. */
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
  /** For hosts over MCP, such as the page that shows its results. */
  readonly _meta?: JsonObject;
}

/** Which tools of a server exist for callers: exact names, or names with `*` at an end. */
export type ToolFilter = Readonly<Partial<Record<'allow' | 'deny', readonly string[]>>>;

/** A tool in both lists is denied. */
export function isAllowed(name: string, { allow, deny = [] }: ToolFilter): boolean {
  const matches = (patterns: readonly string[]) => patterns.some((pattern) => matchesPattern(name, pattern));
  return (allow === undefined || matches(allow)) && !matches(deny);
}

/** The form of a pattern: the name of a tool, with `*` for any text at either end. */
export const TOOL_PATTERN = /^\*?[^*]+\*?$|^\*$/;

/** Whether a name is the pattern, which may have `*` at either end. */
export function matchesPattern(name: string, pattern: string): boolean {
  const isPrefix = pattern.endsWith('*');
  const isSuffix = pattern.startsWith('*');
  const fixed = pattern.slice(isSuffix ? 1 : 0, isPrefix ? -1 : undefined);
  if (isPrefix && isSuffix) return name.includes(fixed);
  if (isPrefix) return name.startsWith(fixed);
  return isSuffix ? name.endsWith(fixed) : name === pattern;
}

/** Whether a tool declares that it changes nothing. */
export function isReadOnly({ annotations }: Pick<GatewayTool, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true && annotations.destructiveHint !== true;
}

/** Names, descriptions and hints that replace those of a server for callers. */
export interface ToolOverrides {
  /** New names, by the server's own. */
  readonly rename?: Readonly<Record<string, string>>;
  /** By new name. */
  readonly describe?: Readonly<Record<string, string>>;
  /** New names, with `*` at either end. */
  readonly readOnly?: readonly string[];
}

/** The tools for callers, each with the tool as the server describes it, and problems of the overrides, for people. */
export function override(listed: readonly GatewayTool[], { rename = {}, describe = {}, readOnly = [] }: ToolOverrides) {
  const renamed = new Map(Object.entries(rename));
  const texts = new Map(Object.entries(describe));
  const given = new Set(listed.flatMap(({ name }) => renamed.get(name) ?? []));
  const isHidden = ({ name }: GatewayTool) => given.has(name) && !renamed.has(name);
  const tools = listed.flatMap((own) => {
    if (isHidden(own)) return [];
    const name = renamed.get(own.name) ?? own.name;
    const isReadOnly = readOnly.some((pattern) => matchesPattern(name, pattern));
    const hints = { annotations: { ...own.annotations, readOnlyHint: true, destructiveHint: false } };
    const description = texts.get(name) ?? own.description;
    return [{ own, tool: { ...own, name, description, ...(isReadOnly && hints) } }];
  });
  const shown = tools.map(({ tool }) => tool);
  const unknown = (key: string, names: Iterable<string>, known: readonly GatewayTool[]) =>
    [...names]
      .filter((name) => !known.some((tool) => tool.name === name))
      .map((name) => `there is no tool ${name} (tools.${key})`);
  const problems = [
    ...unknown('rename', renamed.keys(), listed),
    ...unknown('describe', texts.keys(), shown),
    ...listed.filter(isHidden).map(({ name }) => `its own tool ${name} does not exist: another is renamed to ${name}`),
  ];
  return { tools, problems };
}
