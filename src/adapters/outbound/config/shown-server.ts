import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { type ServerEntry, withoutEffect } from './server-entry.ts';
import { SERVER_TABLE } from './server-keys.ts';
import type { Key } from './table.ts';
import { shownText } from './value-references.ts';

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
