import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';

/** Replaces or creates a file. At any time, the file is complete: the old or the new one. Rejects if it cannot be written. */
export async function replaceFile(path: string, text: string, mode?: number): Promise<void> {
  const unfinished = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(unfinished, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    // The unfinished file would keep a full disk full.
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  }
}

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

/** Whether a file or folder belongs to this user or to the administrator. Windows has no such owners. */
export function isOwn({ uid }: Stats): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own || uid === 0;
}

/** Whether no other user can change a file, or the entries of a folder. Windows has no such modes. */
export function isTrusted(stats: Stats): boolean {
  return isOwn(stats) && (process.platform === 'win32' || (stats.mode & 0o022) === 0);
}

/** The text of a file that is accepted, or why it is not read; neither if there is none. Does not wait for the writer of a pipe. */
export async function readAccepted(
  path: string,
  isAccepted: (stats: Stats) => boolean,
): Promise<{ readonly text?: string; readonly reason?: string }> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return { reason: 'it is not a file' };
    return isAccepted(stats) ? { text: await file.readFile('utf8') } : { reason: FOREIGN };
  } catch (error) {
    const reason = reasonOf(error);
    return reason === 'ENOENT' ? {} : { reason };
  } finally {
    await file?.close();
  }
}
