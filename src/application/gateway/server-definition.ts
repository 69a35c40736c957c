import { type ApprovedTools, approvedOf } from '../../domain/gateway/approved-tools.ts';
import type { LoginOwner } from '../../domain/gateway/login-owner.ts';
import { redactedValue } from '../../domain/values/redaction.ts';
import type { Services } from '../ports/services.ts';
import type {
  Definitions,
  KeptDefinitions,
  OnListChanged,
  SchemaValidator,
  ServerConnection,
  ToolServer,
} from '../ports/tool-server.ts';
import type { ToolRules } from './tool-list.ts';

/** The facts about a server that the gateway needs. Only the adapter knows how to reach it. */
export interface ServerDefinition {
  readonly name: string;
  readonly transport: ServerConnection['transport'];
  /** Limits of a call, and of a start until the list of tools is known. */
  readonly timeoutMs: number;
  readonly startupTimeoutMs: number;
  /** How long the answer of a person to a question of the server is awaited, while the limit of the call is paused. */
  readonly questionTimeoutMs: number;
  readonly restart: 'on-failure' | 'never';
  /** Whether the server starts with the gateway, or with its first call. A server without known lists starts with the gateway in any case. */
  readonly start: 'at_once' | 'on_use';
  /** After this time without a call, the server is stopped until the next one; 0: never. */
  readonly idleMs: number;
  /** Whether the gateway is ready only while this server is available. */
  readonly isRequired: boolean;
  readonly filter: ToolRules;
  /** Whether its tools return nothing private. */
  readonly isPublic: boolean;
  readonly maxConcurrency: number;
  /** Where a caller signs in, if each has a login and a browser reaches this program. */
  readonly loginUrl?: string | undefined;
}

/** How callers use a server at which each has a login. */
export interface PerCaller {
  readonly maxConnections: number;
  /** Makes the server as it is used with the login of a caller. */
  readonly serverFor: (owner: LoginOwner) => ToolServer;
  /** What a caller of this name reads who is asked to sign in. */
  readonly signInWords: (caller: string) => string;
  /** The ID of the login that a caller has now, which another process may have stored; undefined if there is none that can be used. Never rejects. */
  readonly loginId: (owner: LoginOwner) => Promise<string | undefined>;
}

export interface ConfiguredServer {
  readonly definition: ServerDefinition;
  readonly server: ToolServer;
  /** Present if callers share this program, and each has a login to the server: `server` is then never connected. */
  readonly perCaller?: PerCaller | undefined;
  /** The complete configuration of the server as a text. If it differs after a reload, the server is replaced. */
  readonly fingerprint: string;
  /** The description that the server gave of itself at an earlier start. */
  readonly known?: Definitions | undefined;
  /** Keeps the current description. Never rejects. */
  readonly keep?: ((definitions: Definitions) => Promise<void>) | undefined;
}

/** A server, and the connection to it while there is one. */
export interface RunningServer {
  readonly definition: ServerDefinition;
  readonly connection: ServerConnection | undefined;
  /** Whether a call has to wait for a start. */
  readonly isIdle: boolean;
}

export interface GatewayOptions extends Pick<Services, 'clock' | 'logger'> {
  readonly validator: () => Promise<SchemaValidator>;
  readonly servers: readonly ConfiguredServer[];
  /** The tools in `gateway.lock`; undefined without a lock, so that every tool is offered. */
  readonly approved?: ApprovedTools | undefined;
  /** How long calls of a removed server may continue. */
  readonly drainMs: number;
  readonly onListChanged?: OnListChanged | undefined;
  /** Whether callers share the servers. */
  readonly isShared?: boolean | undefined;
}

/**
 * Which servers start with the gateway: `all`; only servers whose lists are `unknown`; or those whose key `start` says so. Without this key, `on_use`
 * starts child processes with their first call and remote servers, which cost no process, at once; `at_once` starts both at once.
 */
export type Starts = 'all' | 'unknown' | 'on_use' | 'at_once';

type Start = ServerDefinition['start'];

/** A server of the configuration, before it is decided when it starts. */
export interface DescribedServer extends Pick<ConfiguredServer, 'server' | 'fingerprint' | 'perCaller'> {
  /** `start` is undefined if the configuration does not say when. */
  readonly definition: Omit<ServerDefinition, 'start'> & { readonly start: Start | undefined };
  /** Everything that can change the lists of the server now, such as its login: the key of its kept description. */
  readonly key: () => Promise<string>;
  /** When a file that its command names last changed, in milliseconds since 1970; 0 if it names none. */
  readonly changedMs: () => Promise<number>;
}

interface PlanOptions extends Pick<Services, 'clock' | 'redactor'> {
  readonly starts: Starts;
  /** Undefined if nothing can be kept. */
  readonly kept: KeptDefinitions | undefined;
  readonly approved: ApprovedTools | undefined;
}

/** Kept lists of a child process that are older than this are read again. */
const STALE_MS = 24 * 60 * 60 * 1000;

/** When a server starts, by the `start` of its configuration. */
const START: Readonly<Record<Starts, (own: Start | undefined, isChild: boolean) => Start>> = {
  all: () => 'at_once',
  unknown: () => 'on_use',
  on_use: (own, isChild) => own ?? (isChild ? 'on_use' : 'at_once'),
  at_once: (own) => own ?? 'at_once',
};

/** Decides when a server starts, how often, and what is known of it before. */
export async function planServer(described: DescribedServer, options: PlanOptions): Promise<ConfiguredServer> {
  const { starts, kept, approved, clock, redactor } = options;
  const { definition, key, changedMs, ...server } = described;
  const { name, transport } = definition;
  const isServing = starts === 'on_use' || starts === 'at_once';
  const start = START[starts](definition.start, transport === 'stdio');
  // Where a person waits for a command, no server starts twice.
  const planned = { ...definition, start, restart: isServing ? definition.restart : ('never' as const) };
  const listed = await kept?.read(await key());
  // A person who has changed a server looks for the change. A session begins with the earlier list, because a file may also be data.
  const isOutdated = starts === 'unknown' && (await changedMs()) > (listed?.listedAt?.getTime() ?? 0);
  const known = isOutdated ? undefined : (listed ?? (isServing ? fromLock(name, approved) : undefined));
  const ageMs = clock.now().getTime() - (known?.listedAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const isStale = starts !== 'unknown' && ageMs >= STALE_MS;
  const keep =
    kept &&
    (async ({ listedAt, ...described }: Definitions) => {
      // A server may describe itself with the token that it got, and a later process does not know this secret.
      await kept.write(await key(), { ...redactedValue(described, redactor.anywhere), listedAt });
    });
  return { ...server, definition: { ...planned, start: isStale ? 'at_once' : start }, known, keep };
}

function fromLock(server: string, approved: ApprovedTools | undefined): Definitions | undefined {
  const tools = approved === undefined ? [] : approvedOf(server, approved);
  return tools.length === 0 ? undefined : { tools, shared: {} };
}
