import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve, win32 } from 'node:path';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';

/** A text, or the reason why there is none: the system's error code (`ENOENT`), or words. */
type FileContent = { readonly text: string } | { readonly reason: string };

/** A file's text without a byte order mark. */
export function readText(path: string): FileContent {
  try {
    return { text: readFileSync(path, 'utf8').replace(/^\uFEFF/, '') };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** Like `readText`, for a file that must not be empty. */
export function readNonEmptyText(path: string): FileContent {
  const content = readText(path);
  return 'text' in content && content.text.trim() === '' ? { reason: 'it is empty' } : content;
}

/** Why `attempt` throws; undefined if it does not. */
export function failureOf(attempt: () => void): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** The value of `attempt`; undefined if it throws. */
export function attempted<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}

/** An absolute path: `~` is the home folder, and a relative path starts at `folder`, by default the current one. */
export function expandPath(path: string, folder = process.cwd()): string {
  const home = /^~(?:[/\\]|$)/.test(path) ? homeFolder() : undefined;
  return home === undefined ? resolve(folder, path) : join(home, path.slice(1));
}

/** The home folder of this user; undefined if there is none. */
export function homeFolder(): string | undefined {
  return attempted(homedir);
}

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

/** The path of a program of Windows. By name, Windows would first look in the current folder, which may be the project of a stranger. */
export function systemProgram(name: string, environment: Readonly<Record<string, string | undefined>>): string {
  return win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', `${name}.exe`);
}
