import { hashOf } from './exposed-name.ts';
import type { GatewayTool } from './gateway-tool.ts';

const MAX_LENGTH = 64;
/** Names with a meaning for the API. */
const RESERVED = new Set(['parallel', 'web_search']);

/** A name for each tool that the API accepts; unique, and the same in every process (ruling L3). */
export function functionNames(tools: readonly Pick<GatewayTool, 'server' | 'name'>[]): readonly string[] {
  const plain = tools.map(({ server, name }) => `${server}__${name}`.replace(/[^a-zA-Z0-9_-]/g, '_'));
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return tools.map(({ server, name }, index) => {
    const candidate = plain[index] ?? '';
    const isUsable = candidate.length <= MAX_LENGTH && counts.get(candidate) === 1 && !RESERVED.has(candidate);
    const hash = hashOf(server, name);
    return isUsable ? candidate : `${candidate.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`;
  });
}
