import { BUILT_IN_SERVER, EVERYTHING, LOCAL_CALLER, type Rights, type UsableTool } from './call-origin.ts';
import { isReadOnly, matchesPattern } from './gateway-tool.ts';
import type { ServerState } from './tool-call-error.ts';

/** The usable part of a server: everything, tools that only read, or tools with these names, which may have `*` at either end. */
export type ServerGrant = 'all' | 'read_only' | readonly string[];

/** The rights of a caller, or of the callers of a group. An absent member allows nothing. */
export interface AccessEntry {
  readonly servers?: 'all' | Readonly<Record<string, ServerGrant>>;
  readonly answers?: boolean | readonly string[];
  readonly operator?: boolean;
  /** Whether the metrics may be read; operators always may. */
  readonly metrics?: boolean;
}

/** By the name of a caller, or `group:` and the name of a group. */
export type AccessPolicy = Readonly<Record<string, AccessEntry>>;

export const GROUP_PREFIX = 'group:';

interface Owner {
  readonly caller: string;
  readonly groups?: readonly string[];
}

/** Returns a function that combines the rights of a caller's own entry and the entries of its groups. */
export function rightsBy(policy: AccessPolicy) {
  const known = new Map<string, Rights>();
  const isListed = (name: string) => Object.hasOwn(policy, name);
  const rightsOf = (key: string, names: readonly string[]) => {
    const rights = known.get(key) ?? toRights(names.filter(isListed).map((name) => policy[name] ?? {}));
    known.set(key, rights);
    return rights;
  };
  const ofUser: Rights = { ...EVERYTHING, isForEveryone: false };
  return ({ caller, groups = [] }: Owner): Rights => {
    if (caller === LOCAL_CALLER && !isListed(caller)) return ofUser;
    // A request asks several times, and most callers have no groups.
    if (groups.length === 0) return rightsOf(isListed(caller) ? caller : '', [caller]);
    const names = [caller, ...groups.map((group) => `${GROUP_PREFIX}${group}`)];
    const listed = [...new Set(names)].filter(isListed).sort();
    const [name = ''] = listed.length > 1 ? [JSON.stringify(listed)] : listed;
    return rightsOf(name, listed);
  };
}

/** The names and patterns in `access` that match no tool of their server. Servers whose tools are not known are left out. */
export function unmatchedGrants(
  policy: AccessPolicy,
  gateway: {
    readonly servers: readonly { readonly name: string; readonly state: ServerState }[];
    readonly tools: readonly UsableTool[];
    readonly changed: readonly UsableTool[];
  },
) {
  const tools = [...gateway.tools, ...gateway.changed];
  const isKnown = (state: ServerState) => state === 'available' || state === 'idle';
  const available = gateway.servers.filter(({ state }) => isKnown(state)).map(({ name }) => name);
  return Object.entries(policy).flatMap(([caller, { servers = {} }]) =>
    Object.entries(servers === 'all' ? {} : servers).flatMap(([server, grant]) => {
      const names = tools.filter((tool) => tool.server === server).map(({ name }) => name);
      const isUnmatched = (pattern: string) => !names.some((name) => matchesPattern(name, pattern));
      const patterns = typeof grant === 'string' || !available.includes(server) ? [] : grant.filter(isUnmatched);
      return patterns.map((pattern) => ({ caller, server, pattern }));
    }),
  );
}

function toRights(entries: readonly AccessEntry[]): Rights {
  const rightsOn = (server: string) => {
    const grants = entries
      .map((entry) => grantOf(entry, server))
      .filter((grant) => grant === 'all' || grant.length > 0);
    const mayRead = grants.some((grant) => grant === 'all' || grant === 'read_only');
    return { tests: grants.map(toTest), mayRead };
  };
  const named = [BUILT_IN_SERVER, ...entries.flatMap(({ servers = {} }) => Object.keys(servers))];
  const known = new Map(named.map((server) => [server, rightsOn(server)]));
  // No server has this name: these are the rights on every server that is not named.
  const others = rightsOn('');
  const on = (server: string) => known.get(server) ?? others;
  return {
    // The same entries after a reload may allow something else.
    isForEveryone: false,
    isUnlisted: entries.length === 0,
    isOperator: entries.some(({ operator }) => operator === true),
    mayReadMetrics: entries.some(({ operator, metrics }) => operator === true || metrics === true),
    sees: (server) => on(server).tests.length > 0,
    mayRead: (server) => on(server).mayRead,
    mayUse: (tool) => on(tool.server).tests.some((isGranted) => isGranted(tool)),
  };
}

function toTest(grant: ServerGrant): (tool: UsableTool) => boolean {
  if (grant === 'all') return () => true;
  if (grant === 'read_only') return isReadOnly;
  return ({ name }) => grant.some((pattern) => matchesPattern(name, pattern));
}

function grantOf({ servers = {}, answers = false }: AccessEntry, server: string): ServerGrant {
  if (server === BUILT_IN_SERVER) return answers === true ? 'all' : answers || [];
  if (servers === 'all') return 'all';
  return (Object.hasOwn(servers, server) ? servers[server] : undefined) ?? [];
}
