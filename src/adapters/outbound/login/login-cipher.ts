import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isObject, parseJson } from '../../../domain/values/json.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts the text of a file. The name of the file is a part of the proof, so that the file is refused under any other name. */
export function sealed(text: string, name: string, key: Buffer): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${JSON.stringify({ encrypted: encrypted.toString('base64') })}\n`;
}

/** The text of a file as it was written, and whether it was not encrypted; undefined if it was changed, renamed, or has another key. */
export function opened(content: string, name: string, key: Buffer | undefined) {
  const stored = parseJson(content);
  if (!isObject(stored) || stored.encrypted === undefined) return { text: content, isPlain: true };
  const bytes = Buffer.from(String(stored.encrypted), 'base64');
  if (key === undefined || bytes.length < IV_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const start = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
    return { text: Buffer.concat([start, decipher.final()]).toString('utf8'), isPlain: false };
  } catch {
    return undefined;
  }
}
