import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { MASK } from '../../../domain/values/redaction.ts';
import { shownName } from '../network/environment.ts';
import { KEYS } from './keys.ts';
import { type ServerEntry, withoutEffect } from './server-entry.ts';
import { SERVER_TABLE } from './server-keys.ts';
import { type Key, toTree, type Values } from './table.ts';
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

/** A server for `--show-config`: the keys as they are written and, for the others, the defaults in force. */
export function shownServer(written: JsonObject, entry: ServerEntry, isHttp: boolean): JsonObject {
  const { connection, timeoutMs, idleMs, login, maxConnections } = entry;
  const isChild = connection.kind === 'child';
  const inForce: JsonObject = {
    timeout: timeoutMs,
    idle_ms: idleMs,
    ...(login === 'per_caller' && { max_connections: maxConnections }),
    start: isHttp || !isChild ? 'at_once' : 'on_use',
    ...Object.fromEntries(Object.entries(written).filter(([, value]) => value != null)),
    ...(isChild && { cwd: connection.cwd }),
  };
  const shown = Object.entries<Key>(SERVER_TABLE).flatMap(([name, key]) => {
    // A second name of `envs`.
    const fallback = name === 'env' || withoutEffect(isChild).includes(name) ? undefined : key.default;
    const value = inForce[name] ?? fallback;
    return value === undefined ? [] : [[name, withoutValues(name, value)] as const];
  });
  return Object.fromEntries(shown);
}

/** A value without secrets: those of variables and headers, and that of a client. References to files and commands are shown. */
function withoutValues(name: string, value: unknown): unknown {
  if (typeof value === 'string') return shownText(value, false);
  if (Array.isArray(value)) return value.map((item) => withoutValues(name, item));
  if (!isObject(value)) return value;
  const isSecret = (key: string) => SECRETS.includes(name) || (name === 'auth' && key === 'client_secret');
  const shown = ([key, text]: readonly [string, unknown]) => [
    key,
    isSecret(key) && text != null ? shownText(String(text), true) : withoutValues(key, text),
  ];
  return Object.fromEntries(Object.entries(value).map(shown));
}

const SECRETS = ['envs', 'env', 'headers'];
