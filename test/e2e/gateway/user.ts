import path from 'node:path';
import { type McpProcess, runCli } from '../../support/mcp-process.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { newFolder } from '../files.ts';
import { serve } from '../serve.ts';

/** One user, whose sessions and commands keep what they have learned. */
export function newUser(config: string, more: Readonly<Record<string, string>> = {}) {
  const home = newFolder();
  const env = { [HOME_VARIABLE]: home, LOCALAPPDATA: home, XDG_CACHE_HOME: path.join(home, 'cache'), ...more };
  return {
    session: async () => {
      const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config], env });
      await server.initialize();
      return server;
    },
    run: (...words: readonly string[]) => runCli([...words, '--config', config], { env }),
  };
}

/** The names of the tools that a client gets. */
export async function namesIn(server: McpProcess): Promise<readonly string[]> {
  const { result = {} } = await server.request('tools/list');
  return (result.tools as { name: string }[]).map(({ name }) => name);
}

/** Lists until a tool is there; each change is announced. */
export async function untilListed(server: McpProcess, name: string): Promise<readonly string[]> {
  for (let changes = 1; ; changes += 1) {
    const names = await namesIn(server);
    if (names.includes(name)) return names;
    const isAnnounced = () => server.notifications.filter(({ method }) => method === CHANGED).length >= changes;
    await server.waitFor(({ method }) => method === CHANGED && isAnnounced());
  }
}

export const CHANGED = 'notifications/tools/list_changed';

/** Resolves when the program has ended, with its servers. */
export async function end(server: McpProcess): Promise<void> {
  server.closeStdin();
  await server.exited;
}
