import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The built entry point of the threads that read texts. */
export const BUILT_TEXT_WORKER = join(process.cwd(), 'build', 'chunks', `text-worker-${version}.js`);
