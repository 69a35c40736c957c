import { type GatewayTool, matchesPattern } from './gateway-tool.ts';

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
