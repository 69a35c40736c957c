import type { ConfigProblem } from '../../../application/ports/config.ts';
import { MAX_FUNCTIONS } from '../../../domain/grounding.ts';
import type { Values } from './keys.ts';
import type { ServerEntry } from './server-entry.ts';

/** The tools of a server that is not configured can never be offered; neither can more than the API accepts. */
export function groundingProblems(values: Values, servers: readonly ServerEntry[] = []): readonly ConfigProblem[] {
  const tools = (values.get('grounding.tools') ?? {}) as Readonly<Record<string, readonly string[] | 'all'>>;
  const names = servers.map(({ name }) => name);
  const unknown = Object.keys(tools).filter((server) => !names.includes(server));
  const listed = Object.values(tools).reduce((sum, list) => sum + (list === 'all' ? 0 : list.length), 0);
  const known = names.length === 0 ? 'none are configured' : `the servers are ${names.join(', ')}`;
  return [
    ...unknown.map((server) => ({
      where: 'grounding.tools',
      value: server,
      message: `expected the name of a server; ${known}`,
    })),
    ...(listed > MAX_FUNCTIONS
      ? [{ where: 'grounding.tools', value: String(listed), message: `expected at most ${MAX_FUNCTIONS} tools` }]
      : []),
  ];
}
