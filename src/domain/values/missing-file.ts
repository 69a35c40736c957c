import { isObject } from './json.ts';

/** Whether a part of the program could not be loaded when it was first needed. */
export function isFileMissing(thrown: unknown): boolean {
  return isObject(thrown) && /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(thrown.code));
}
