import { CHECK_TOOL, TOOL_NAMES } from '../../../domain/answers/question.ts';
import { type AccessEntry, type AccessPolicy, GROUP_PREFIX, type ServerGrant } from '../../../domain/gateway/access.ts';
import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import { TOOL_PATTERN } from '../../../domain/gateway/gateway-tool.ts';
import { MAX_FUNCTIONS } from '../../../domain/grounded/grounding.ts';
import type { ConfigTree } from './keys.ts';
import { listOf, mapOf, readValue, valueOr, yamlOnly } from './kinds.ts';
import { ACCESS_WORDS } from './member-words.ts';
import type { Report } from './problems.ts';
import { membersOf } from './table.ts';
import { CALLER, CALLERS, flag } from './value-kinds.ts';

const GROUPS_NEED_CLAIM = 'groups need http.oauth.groups_claim: the name of the claim with the groups of a caller';
const LOCAL_TOKEN = 'with access, local is the user of this machine; give the caller with this token another name';

const toolNames = valueOr(
  ['all', 'read_only', null],
  listOf('all, read_only, or a list of names of tools, which may have * at either end', TOOL_PATTERN),
);
const grant = yamlOnly<ServerGrant>(toolNames.accepted, toolNames.schema, (value, context) =>
  value === null ? [] : (toolNames.fromYaml(value, context) ?? undefined),
);
const grants = valueOr(['all'], mapOf(`all, or a map of servers to ${grant.accepted}`, grant));

const OWN_TOOLS = [...TOOL_NAMES, CHECK_TOOL];
const OWN_TOOL = new RegExp(`^(?:${OWN_TOOLS.join('|')})$`);
const answers = valueOr(
  [true, false],
  listOf(`true, false, or a list of answer tools (${OWN_TOOLS.join(', ')})`, OWN_TOOL),
);

const RIGHTS = {
  servers: { kind: grants },
  answers: { kind: answers },
  operator: { kind: flag, default: false },
  metrics: { kind: flag },
};
/** The rights of one caller. */
export const entry = membersOf('a map with servers, answers, operator and metrics', RIGHTS, ACCESS_WORDS);

/** Reads the section `access`. `servers` has the names of the configured servers; undefined if they are not known. */
export function readAccess(
  { access = {}, http: { tokenEnv, oauth } }: Pick<ConfigTree, 'access' | 'http'>,
  servers: readonly string[] | undefined,
  report: Report,
): AccessPolicy {
  if (typeof tokenEnv === 'object' && Object.hasOwn(tokenEnv, LOCAL_CALLER))
    report('http.token_env', LOCAL_TOKEN, LOCAL_CALLER);
  // A map, because a caller may have the name of a member of every object, such as `constructor`.
  const policy = new Map<string, AccessEntry>();
  for (const [caller, value] of Object.entries(access)) {
    if (value === null) continue;
    const where = `access.${caller}`;
    const isGroup = caller.startsWith(GROUP_PREFIX) && caller !== GROUP_PREFIX;
    if (isGroup && oauth.groupsClaim === undefined) report(where, GROUPS_NEED_CLAIM);
    else if (!isGroup && !CALLER.test(caller)) report(where, `expected ${CALLERS}, or group: and the name of a group`);
    const read: AccessEntry = readValue(entry, value, { where, folder: '', report, expand: (text) => text }) ?? {};
    policy.set(caller, read);
    if (read.servers !== 'all') checkServers(`${where}.servers`, Object.keys(read.servers ?? {}), servers, report);
  }
  return Object.fromEntries(policy);
}

/** Reports tools that can never be offered: those of servers that are not configured, and more than the API accepts. */
export function checkOfferedTools(
  { grounding: { tools = {} }, gateway: { always } }: ConfigTree,
  servers: readonly string[] | undefined,
  report: Report,
): void {
  checkServers('grounding.tools', Object.keys(tools), servers, report);
  const ofAlways = always.map((pattern) => pattern.replace(/\/.*/s, ''));
  checkServers('gateway.always', [...new Set(ofAlways)], servers, report);
  const listed = Object.values(tools).reduce((sum, list) => sum + (list === 'all' ? 0 : list.length), 0);
  if (listed > MAX_FUNCTIONS) report('grounding.tools', `expected at most ${MAX_FUNCTIONS} tools`, listed);
}

/** Reports names that no server has, if the servers are known. */
function checkServers(where: string, names: readonly string[], known: readonly string[] | undefined, report: Report) {
  const which = known?.length === 0 ? 'none are configured' : `the servers are ${known?.join(', ')}`;
  for (const name of names)
    if (known?.includes(name) === false) report(where, `expected the name of a server; ${which}`, name);
}
