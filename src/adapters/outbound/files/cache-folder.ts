import { isAbsolute, join } from 'node:path';
import { homeFolder } from './local-files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where programs of this user keep what they can make again; undefined if the user has no home folder. */
export function cacheFolder(environment: Environment, platform = process.platform): string | undefined {
  const home = homeFolder();
  if (platform === 'win32') return environment.LOCALAPPDATA || undefined;
  if (platform === 'darwin') return home && join(home, 'Library', 'Caches');
  const { XDG_CACHE_HOME: folder = '' } = environment;
  // The standard ignores relative paths.
  return isAbsolute(folder) ? folder : home && join(home, '.cache');
}
