import { err, ok, type Result } from 'neverthrow';
import type { ServerConfig } from '../adapters/outbound/config/server-config.ts';
import type { SecretReference } from '../adapters/outbound/config/value-references.ts';
import { parseLoginsKey } from '../adapters/outbound/login/logins-key.ts';
import { variableText } from '../adapters/outbound/network/environment.ts';
import { never } from '../application/async/deadline.ts';
import type { ConfigProblem } from '../application/ports/config.ts';
import type { KeptValues } from '../application/values/kept-values.ts';
import { valueFailureWords } from '../domain/values/value-failure.ts';

/** The key with which stored logins are encrypted, which every process that reads them needs from its start. Undefined if they are not encrypted. */
export async function readLoginsKey(
  { gateway: { loginsKey } }: Pick<ServerConfig, 'gateway'>,
  values: KeptValues,
): Promise<Result<Buffer | undefined, ConfigProblem>> {
  if (loginsKey === undefined) return ok(undefined);
  const read = await readSecret(loginsKey, values, never());
  const key = read.isOk() ? parseLoginsKey(read.value.trim()) : undefined;
  if (key !== undefined) return ok(key);
  const message = read.isErr() ? read.error : NO_KEY;
  return err({ where: 'gateway.logins_key', message });
}

const NO_KEY = 'expected a key of 32 bytes in base64 or hex; create one with: openssl rand -base64 32';

/** Reads a secret of the configuration. The error is for people. */
export async function readSecret(
  { source }: SecretReference,
  values: KeptValues,
  signal: AbortSignal,
): Promise<Result<string, string>> {
  if (source.kind !== 'variable')
    return (await values.read(source, signal)).map(({ text }) => text).mapErr(valueFailureWords);
  const text = variableText(process.env, source.name);
  return text === '' ? err(`the variable ${source.name} is not set`) : ok(text);
}
