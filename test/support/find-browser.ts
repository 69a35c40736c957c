import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Chromium or Chrome: what `CHROME` names, or else the first on the PATH; undefined if there is none. */
export function findBrowser({ CHROME = '', PATH = '' } = process.env): string | undefined {
  const named = (name: string) => PATH.split(path.delimiter).map((folder) => path.join(folder, name));
  const files = [...(CHROME === '' ? [] : [CHROME, ...named(CHROME)]), ...NAMES.flatMap(named)];
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
