import { join } from 'node:path';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { DefinitionFiles } from '../adapters/outbound/definitions/definition-files.ts';
import { cacheFolder } from '../adapters/outbound/files/cache-folder.ts';
import { LoginFiles } from '../adapters/outbound/login/login-files.ts';
import type { ConfiguredServer } from '../application/gateway/server-definition.ts';
import type { Definitions, KeptDefinitions } from '../application/ports/kept-definitions.ts';
import { type ApprovedTools, approvedOf } from '../domain/gateway/approved-tools.ts';
import { redactedValue } from '../domain/values/redaction.ts';
import type { Runtime } from './runtime.ts';
import { PROGRAM } from './version.ts';

/**
 * Which servers start with the gateway: `all`; only servers whose lists are `unknown`; or those whose key `start` says so. Without this key, `on_use`
 * starts child processes with their first call and remote servers, which cost no process, at once; `at_once` starts both at once.
 */
export type Starts = 'all' | 'unknown' | 'on_use' | 'at_once';

/** Kept lists of a child process that are older than this are read again. */
const STALE_MS = 24 * 60 * 60 * 1000;

/** The kept descriptions of servers; undefined if this user has no cache folder. */
export function keptDefinitions({ clock, logger }: Runtime): KeptDefinitions | undefined {
  const folder = cacheFolder(process.env);
  return folder === undefined ? undefined : new DefinitionFiles(join(folder, PROGRAM, 'servers'), clock, logger);
}

/** Decides when a server starts, and finds its known description. */
export async function knownOf(
  entry: ServerEntry,
  starts: Starts,
  kept: KeptDefinitions | undefined,
  approved: ApprovedTools | undefined,
  { config, clock, redactor }: Runtime,
): Promise<Pick<ConfiguredServer, 'known' | 'keep'> & { readonly start: 'at_once' | 'on_use' }> {
  const isChild = entry.connection.kind === 'child';
  const start = starts === 'unknown' ? 'on_use' : (starts !== 'all' && entry.start) || startOf(starts, isChild);
  // Where servers always run, nothing needs to be kept.
  if (start === 'at_once' && starts === 'at_once') return { start };
  const logins = new LoginFiles(config.gateway.logins, clock);
  const keyNow = () => keyOf(entry, logins);
  const isServing = starts === 'on_use' || starts === 'at_once';
  const known = (await kept?.read(await keyNow())) ?? (isServing ? fromLock(entry.name, approved) : undefined);
  const ageMs = clock.now().getTime() - (known?.listedAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const isStale = starts !== 'unknown' && ageMs >= STALE_MS;
  const keep =
    kept &&
    (async ({ listedAt, ...described }: Definitions) => {
      // A server may describe itself with the token that it got, and a later process does not know this secret.
      await kept.write(await keyNow(), { ...redactedValue(described, redactor.anywhere), listedAt });
    });
  return { start: isStale ? 'at_once' : start, known, keep };
}

function startOf(starts: Starts, isChild: boolean): 'at_once' | 'on_use' {
  return starts === 'on_use' && isChild ? 'on_use' : 'at_once';
}

/** The key of a server's kept lists: everything that can change them, such as its entry, inherited variables and login. */
async function keyOf({ name, connection }: ServerEntry, logins: LoginFiles): Promise<string> {
  if (connection.kind === 'remote') return JSON.stringify([name, connection, (await logins.read(connection.url))?.id]);
  const { inheritEnv } = connection;
  const inherited = inheritEnv === true ? [] : inheritEnv.map((variable) => process.env[variable] ?? null);
  return JSON.stringify([name, connection, inherited]);
}

function fromLock(server: string, approved: ApprovedTools | undefined): Definitions | undefined {
  const tools = approved === undefined ? [] : approvedOf(server, approved);
  return tools.length === 0 ? undefined : { tools, shared: {} };
}
