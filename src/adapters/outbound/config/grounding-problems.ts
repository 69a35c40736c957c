import type { ConfigProblem } from '../../../application/ports/config.ts';
import { MAX_FUNCTIONS } from '../../../domain/grounding.ts';
import type { ConfigTree } from './config-tree.ts';

/** The tools of a server that is not configured can never be offered; neither can more than the API accepts. */
export function groundingProblems(
  tools: NonNullable<ConfigTree['grounding']['tools']>,
  servers: readonly { readonly name: string }[],
): readonly ConfigProblem[] {
  const where = 'grounding.tools';
  const names = servers.map(({ name }) => name);
  const known = names.length === 0 ? 'none are configured' : `the servers are ${names.join(', ')}`;
  const message = `expected the name of a server; ${known}`;
  const unknown = Object.keys(tools).filter((server) => !names.includes(server));
  const listed = Object.values(tools).reduce((sum, list) => sum + (list === 'all' ? 0 : list.length), 0);
  const tooMany = { where, value: String(listed), message: `expected at most ${MAX_FUNCTIONS} tools` };
  return [...unknown.map((value) => ({ where, value, message })), ...(listed > MAX_FUNCTIONS ? [tooMany] : [])];
}
