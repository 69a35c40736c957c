import { findProgram } from './find-program.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Chromium or Chrome: what `CHROME` names, or else the first on the PATH; undefined if there is none. */
export function findBrowser({ CHROME = '', PATH = '' } = process.env): string | undefined {
  return findProgram([...(CHROME === '' ? [] : [CHROME]), ...NAMES], { PATH });
}
