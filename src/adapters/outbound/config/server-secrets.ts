import type { ServerEntry } from './server-entry.ts';

/** The values of `envs` and `headers`, and their words: of `Bearer abc`, an error may name only `abc`. */
export function serverSecrets(servers: readonly ServerEntry[]): readonly string[] {
  const values = servers.flatMap(({ connection }) =>
    Object.values(connection.kind === 'child' ? connection.envs : connection.headers),
  );
  return [...new Set(values.flatMap((value) => [value, ...value.split(/\s+/)]))];
}
