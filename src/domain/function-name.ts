import { hashOf } from './exposed-name.ts';
import type { GatewayTool } from './gateway-tool.ts';

const MAX_LENGTH = 64;
/** Names with a meaning for the API. */
const RESERVED = new Set(['parallel', 'web_search']);

/** A name for each tool that the API accepts; unique, and the same in every process (ruling L3). */
export function functionNames(tools: readonly Pick<GatewayTool, 'server' | 'name'>[]): readonly string[] {
  const plain = tools.map(({ server, name }) => `${server}__${name}`.replace(/[^a-zA-Z0-9_-]/g, '_'));
  let names = tools.map(({ server, name }, index) => {
    const candidate = plain[index] ?? '';
    return candidate.length > MAX_LENGTH || RESERVED.has(candidate) ? withHash(candidate, server, name) : candidate;
  });
  // A name with a hash may be the plain name of another tool, which then gets its hash too.
  for (;;) {
    const counts = new Map<string, number>();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    const next = tools.map(({ server, name }, index) => {
      const current = names[index] ?? '';
      return counts.get(current) === 1 ? current : withHash(plain[index] ?? '', server, name);
    });
    if (next.every((name, index) => name === names[index])) return next;
    names = next;
  }
}

function withHash(name: string, server: string, tool: string): string {
  const hash = hashOf(server, tool);
  return `${name.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`;
}
