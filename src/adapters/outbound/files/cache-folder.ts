import { isAbsolute, join } from 'node:path';
import { homeFolder } from './local-files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder in which programs of this user keep files that they can create again; undefined without a home folder. */
export function cacheFolder(environment: Environment, platform = process.platform): string | undefined {
  const home = homeFolder();
  if (platform === 'win32') return environment.LOCALAPPDATA || undefined;
  if (platform === 'darwin') return home && join(home, 'Library', 'Caches');
  const { XDG_CACHE_HOME: folder = '' } = environment;
  // By the XDG standard, relative paths are ignored.
  return isAbsolute(folder) ? folder : home && join(home, '.cache');
}
