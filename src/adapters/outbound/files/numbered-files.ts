import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expandPath } from './local-files.ts';

/**
 * Writes data to a new file in a folder, which is created if necessary, and returns its path. Its number is the first that is free after the name, so
 * that no file is replaced. Rejects if it cannot be written.
 */
export async function writeNumbered(folder: string, name: string, ending: string, data: Uint8Array): Promise<string> {
  const path = expandPath(folder);
  await mkdir(path, { recursive: true });
  // The name comes from a server: it must stay in the folder, and be no hidden file.
  const safe = name.replace(/[^\p{L}\p{N}_-]+/gu, '_').slice(0, MAX_NAME);
  for (let number = 1; ; number += 1) {
    const file = join(path, `${safe}-${number}.${ending}`);
    try {
      await writeFile(file, data, { flag: 'wx' });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

const MAX_NAME = 50;
