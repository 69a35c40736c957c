import { err, ok, type Result } from 'neverthrow';
import { messageForProblem } from '../adapters/inbound/words/process-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { RequestValues } from '../adapters/outbound/mcp-client/renewed-values.ts';
import type { ToolServer } from '../application/ports/tool-server.ts';
import type { KeptValue, KeptValues } from '../application/values/kept-values.ts';
import type { LoginUse } from '../domain/gateway/login-owner.ts';
import { valueFailureWords } from '../domain/values/value-failure.ts';
import type { Runtime } from './runtime.ts';

/** An entry with its values, and the values as they were read, by their references. */
export interface CompletedEntry {
  readonly entry: ServerEntry;
  readonly values: ReadonlyMap<string, KeptValue>;
}

/** Reads the values of an entry: as they are kept, or, after `used`, as they are now. The error says for people why the server cannot start. */
export async function completeEntry(
  entry: ServerEntry,
  values: KeptValues,
  used: ReadonlyMap<string, KeptValue> | undefined | 'kept',
  signal: AbortSignal,
): Promise<Result<CompletedEntry, string>> {
  const references = (entry.values ?? []).map(({ reference }) => reference);
  const reads = await Promise.all(
    references.map(async (reference) => {
      const key = JSON.stringify(reference);
      const read = await (used === 'kept'
        ? values.read(reference, signal)
        : values.renew(reference, used?.get(key), signal));
      return read.map((value) => [key, value] as const);
    }),
  );
  const failed = reads.find((read) => read.isErr());
  if (failed?.isErr()) return err(valueFailureWords(failed.error));
  const known = new Map(reads.flatMap((read) => (read.isOk() ? [read.value] : [])));
  const completed = entry.complete?.(new Map([...known].map(([key, { text }]) => [key, text]))) ?? { entry };
  if ('entry' in completed) return ok({ ...completed, values: known });
  return err(completed.problems.map(messageForProblem).join('; '));
}

/** Reads the values of a server once more. Undefined if they are the same, or cannot be read. */
export type RenewValues = (signal: AbortSignal) => Promise<RequestValues | undefined>;

interface MadeOf {
  readonly entry: ServerEntry;
  /** Whose login is used. */
  readonly use: LoginUse;
  readonly renew: RenewValues;
}

/** Makes the servers whose values are read before each start. `make` makes one of a completed entry. */
export function serversWithValues(runtime: Runtime, make: (made: MadeOf) => Promise<ToolServer>) {
  const { values } = runtime;
  /** The names of the servers that were started, whose values are read anew. */
  const started = new Set<string>();
  return (entry: ServerEntry, use: LoginUse): ToolServer => {
    let made: { readonly server: ToolServer; readonly of: string } | undefined;
    return {
      get login() {
        return made?.server.login;
      },
      connect: async (events, signal) => {
        const isAgain = started.has(entry.name);
        started.add(entry.name);
        const completed = await completeEntry(entry, values, isAgain ? undefined : 'kept', signal);
        if (completed.isErr()) return err(completed.error);
        const of = JSON.stringify([...completed.value.values]);
        const server =
          // A server keeps its login while its values are the same.
          made?.of === of
            ? made.server
            : await make({ entry: completed.value.entry, use, renew: renewal(entry, completed.value, runtime) });
        made = { server, of };
        return server.connect(events, signal);
      },
    };
  };
}

/** Reads the values of a remote server once more, after it refused those that were last read. */
function renewal(entry: ServerEntry, first: CompletedEntry, { values, logger }: Runtime): RenewValues {
  let { values: used } = first;
  return async (signal) => {
    const before = used;
    const completed = await completeEntry(entry, values, before, signal);
    if (completed.isErr()) {
      logger.warn(`gateway: ${entry.name}: a value was not read again after HTTP 401: ${completed.error}`);
      return undefined;
    }
    const isSame = JSON.stringify([...completed.value.values]) === JSON.stringify([...before]);
    ({ values: used } = completed.value);
    const { connection } = completed.value.entry;
    return isSame || connection.kind === 'child' ? undefined : connection;
  };
}
