import { isObject } from '../../domain/json.ts';

const MESSAGE =
  'A file of this program is missing: it was updated while it ran, or its installation is incomplete. Restart it; if that does not help, install it again.';

/** The message for a part of the program that could not be loaded when it was first needed; undefined for any other exception. */
export function missingFileMessage(thrown: unknown): string | undefined {
  return isObject(thrown) && /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(thrown.code)) ? MESSAGE : undefined;
}
