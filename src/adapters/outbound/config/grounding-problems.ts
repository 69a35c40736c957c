import { MAX_FUNCTIONS } from '../../../domain/grounding.ts';
import type { ConfigTree } from './config-tree.ts';
import type { Report } from './problems.ts';

/** The tools of a server that is not configured can never be offered; neither can more than the API accepts. */
export function checkGroundedTools(
  tools: NonNullable<ConfigTree['grounding']['tools']>,
  servers: readonly { readonly name: string }[],
  report: Report,
): void {
  const names = servers.map(({ name }) => name);
  const known = names.length === 0 ? 'none are configured' : `the servers are ${names.join(', ')}`;
  for (const server of Object.keys(tools).filter((server) => !names.includes(server)))
    report('grounding.tools', `expected the name of a server; ${known}`, server);
  const listed = Object.values(tools).reduce((sum, list) => sum + (list === 'all' ? 0 : list.length), 0);
  if (listed > MAX_FUNCTIONS) report('grounding.tools', `expected at most ${MAX_FUNCTIONS} tools`, listed);
}
