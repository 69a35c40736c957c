import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Replaces a file, or makes it: at any time, it is complete, and the old or the new one. Rejects if it cannot be written. */
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
    // On a full disk, what was written would stay.
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  }
}
