import type { Stats } from 'node:fs';

const FOREIGN = 'it belongs to another user';

/** Throws if a file belongs to another user, who could read text that is appended to it. Windows has no such owners. */
export function refuseForeignFile(stats: Stats): void {
  const isForeign = process.getuid !== undefined && stats.isFile() && stats.uid !== process.getuid();
  if (isForeign) throw Object.assign(new Error(FOREIGN), { code: FOREIGN });
}

/** The mode of a file that other users can open, such as `0644`; undefined if only its owner can. */
export function sharedMode(stats: Stats): string | undefined {
  const isShared = process.platform !== 'win32' && stats.isFile() && (stats.mode & 0o077) !== 0;
  return isShared ? `0${(stats.mode & 0o777).toString(8)}` : undefined;
}
