import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../../domain/json.ts';
import { MAX_NESTING, nestsDeeper } from '../../../domain/json-nesting.ts';

/** What is wrong with a message that nests too deeply. */
export const TOO_DEEP = `nests more than ${MAX_NESTING} levels deep`;

export function isTooDeep(bytes: Buffer): boolean {
  return nestsDeeper(bytes, MAX_NESTING);
}

/**
 * The JSON value of the bytes, or undefined (which is not a JSON value) if they are not JSON in UTF-8, or nest too deeply. The client is
 * trusted, but a mistake of it should not need gigabytes.
 */
export function parseBytes(bytes: Buffer): unknown {
  // Decoding replaces invalid bytes by the same character, so different ids would become equal.
  return isUtf8(bytes) && !isTooDeep(bytes) ? parseJson(bytes.toString('utf8').replace(/^\uFEFF/, '')) : undefined;
}
