import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Replaces or creates a file. At any time, the file is complete: the old or the new one. Rejects if it cannot be written. */
export async function replaceFile(path: string, text: string, mode?: number): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.tmp`;
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
