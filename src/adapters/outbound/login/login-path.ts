import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Where the login of a server is (ruling O15). */
export function loginPath(folder: string, url: string): string {
  return join(folder, `${createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 32)}.json`);
}
