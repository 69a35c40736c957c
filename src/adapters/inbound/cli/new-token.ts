import { createHash, randomBytes } from 'node:crypto';

/** The prefix shows what a leaked text is. No token looks like a hash, so that none is written in its place. */
const PREFIX = 'mcp_';
const BYTES = 32;

/** A new token, and the line of a caller in the file `http.token_file`, with the day as its note. */
export function newToken(caller: string, today: Date) {
  const token = `${PREFIX}${randomBytes(BYTES).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  return { token, line: `${caller} ${sha256} created ${today.toISOString().slice(0, 10)}` };
}
