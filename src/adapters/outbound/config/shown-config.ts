import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { MASK } from '../../../domain/values/redaction.ts';
import { shownName } from '../network/environment.ts';
import { KEYS } from './keys.ts';
import { toTree, type Values } from './table.ts';
import { type SecretReference, shownText } from './value-references.ts';

/** The merged keys for display. The values in `read` replace those of the keys. The redactor later masks secrets in wrong places. */
export function toShownTree(values: Values, read: JsonObject): JsonObject {
  const shown = new Map([...values, ...Object.entries(read)]);
  for (const { path, kind } of KEYS) {
    const value = values.get(path);
    const masked = isObject(value)
      ? Object.entries(value).map(([caller, name]) => [caller, shownName(String(name))])
      : [];
    if (kind.namesSecret && value !== undefined)
      shown.set(path, isObject(value) ? Object.fromEntries(masked) : shownName(String(value)));
  }
  for (const path of ['gateway.logins_key', 'http.oauth.client_secret']) {
    const value = values.get(path) as SecretReference | undefined;
    if (value !== undefined) shown.set(path, shownText(value.written, false));
  }
  // Without a file, there is no audit, and its defaults are not in force.
  if (!values.has('audit.file')) for (const path of shown.keys()) if (path.startsWith('audit.')) shown.delete(path);
  shown.set('http.quota.store', shownStore(String(values.get('http.quota.store'))));
  return toTree(shown);
}

/** The URL of a store without its password. */
export function shownStore(store: string): string {
  return store.replace(/^(rediss?:\/\/[^:@/]*):.*@/, `$1:${MASK}@`);
}
