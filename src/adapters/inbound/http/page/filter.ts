import type { GatewayTool } from '../../../../domain/gateway/gateway-tool.ts';

/** The tools whose server, name, title or description contains the query. */
export function matching<T extends GatewayTool>(tools: readonly T[], query: string): readonly T[] {
  const wanted = query.trim().toLowerCase();
  return tools.filter(({ server, name, title = '', description }) =>
    `${server} ${name} ${title} ${description}`.toLowerCase().includes(wanted),
  );
}
