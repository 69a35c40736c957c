import { passwordsOf } from '../network/addresses.ts';
import type { NamedText } from '../network/environment.ts';
import { formsOf } from './secrets.ts';
import type { ServerEntry } from './server-entry.ts';

/** Shorter values are ordinary words and numbers, which masking would remove from messages. */
const SHORTEST = 8;

/**
 * The texts in the configuration of servers that must not be shown: values of `envs` and `headers`, parameters of URLs, and `expanded`, the
 * variables to which the configuration refers. Credentials after a scheme, and passwords in URLs, are also secrets without the rest of their text.
 */
export function serverSecrets(servers: readonly ServerEntry[], expanded: readonly NamedText[]): readonly string[] {
  const configured = servers.flatMap(({ connection }): readonly string[] => {
    if (connection.kind === 'child') return Object.values(connection.envs);
    return [...Object.values(connection.headers), ...new URL(connection.url).searchParams.values()];
  });
  const args = servers.flatMap(({ connection }) => (connection.kind === 'child' ? connection.args : []));
  const values = [...configured, ...expanded.map(([, text]) => text)].flatMap((text) => [text, credentialsOf(text)]);
  const passwords = [...configured, ...args].flatMap(passwordsOf);
  return [...new Set([...values.filter(isSecret), ...passwords].flatMap(formsOf))];
}

/** The client secrets, as they are and in the forms in which `Authorization` has them. */
export function clientSecrets(servers: readonly ServerEntry[]): readonly string[] {
  return servers.flatMap(({ connection }) => {
    const { clientId = '', clientSecret = '' } = (connection.kind === 'remote' && connection.auth) || {};
    return passwordsOf(`https://${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}@issuer.invalid`);
  });
}

/** The credentials after a scheme, as in `Bearer abc`. */
function credentialsOf(text: string): string {
  return /^[a-z]+\s+(\S+)$/i.exec(text.trim())?.[1] ?? '';
}

/** Matches texts that messages contain: a word, such as `production`, a media type, or a path or URL without user and parameters. */
const ORDINARY =
  /^(?:[a-z]+|[a-z]+\/[a-z.+-]+(?:[,;].*)?|(?:[a-z][a-z0-9+.-]*:\/\/|[a-z]:\\|~?\/|\.{1,2}[\\/])[^?#@]*)$/i;

function isSecret(text: string): boolean {
  return text.length >= SHORTEST && !ORDINARY.test(text);
}
