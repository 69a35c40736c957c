import { domainToASCII, domainToUnicode } from 'node:url';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { type ModelProfile, type ModelProfiles, profileFor } from '../../../domain/answers/model-profile.ts';
import { type ModelPrice, priceOf, toMicro } from '../../../domain/answers/prices.ts';
import { CHECK_TOOL, TOOL_NAMES } from '../../../domain/answers/question.ts';
import { type AccessEntry, type AccessPolicy, GROUP_PREFIX, type ServerGrant } from '../../../domain/gateway/access.ts';
import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import { TOOL_PATTERN } from '../../../domain/gateway/gateway-tool.ts';
import { type GroundingPolicy, MAX_FUNCTIONS } from '../../../domain/grounded/grounding.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import type { QuotaLimits, QuotaPolicy } from '../../../domain/values/quota.ts';
import type { ConfigTree } from './keys.ts';
import { listOf, mapOf, readValue, valueOr, yamlOnly } from './kinds.ts';
import { ACCESS_WORDS } from './member-words.ts';
import type { Report } from './problems.ts';
import { membersOf } from './table.ts';
import { CALLER, CALLERS, flag } from './value-kinds.ts';

/** Parameters that a model with an unknown name gets only if they are configured. */
const CONFIGURABLE = { reasoning_effort: 'reasoningEffort', verbosity: 'verbosity' } as const;

/** The profiles of the tools that have one. `explicit` has the paths of the keys that are set, rather than defaults. */
export function toProfiles({ modelProfiles }: ConfigTree, explicit: ReadonlySet<string>) {
  const { answer, answerDetailed, answerQuick } = modelProfiles;
  const profile = (tool: string, values: Partial<ModelProfile> | null = null) => {
    // A profile that the configuration removes is null.
    if (values === null) return undefined;
    const isExplicit = (key: string) => explicit.has(`model_profiles.${tool}.${key}`);
    const configured = Object.entries(CONFIGURABLE).flatMap(([key, name]) => (isExplicit(key) ? name : []));
    return configured.length === 0 ? values : { ...values, configured };
  };
  return withoutUndefined({
    answer: profile('answer', answer),
    answer_detailed: profile('answer_detailed', answerDetailed),
    answer_quick: profile('answer_quick', answerQuick),
  });
}

/** The section `http.quota`. */
export interface QuotaConfig extends QuotaPolicy, Pick<ConfigTree['http']['quota'], 'store' | 'onStoreFailure'> {}

/** The quotas; undefined if nothing is limited. The store is `memory`, or a URL that may contain a password. */
export function toQuotaConfig({ http: { quota } }: ConfigTree): QuotaConfig | undefined {
  const { store, onStoreFailure } = quota;
  const toLimits = (calls?: number, searches?: number, tokens?: number, usd?: number): QuotaLimits =>
    withoutUndefined({ calls, searches, tokens, usd: usd === undefined ? undefined : toMicro(usd) });
  const { callsPerDay, searchesPerDay, tokensPerDay, usdPerDay } = quota;
  const limits = toLimits(callsPerDay, searchesPerDay, tokensPerDay, usdPerDay);
  const callers = Object.fromEntries(
    Object.entries(quota.callers ?? {}).map(([caller, own]) => [
      caller,
      toLimits(own.calls_per_day, own.searches_per_day, own.tokens_per_day, own.usd_per_day),
    ]),
  );
  const isLimited = [limits, ...Object.values(callers)].some((some) => Object.keys(some).length > 0);
  return isLimited ? { limits, callers, store, onStoreFailure } : undefined;
}

/** The prices by the configuration and the list. Recordings cost nothing. */
export function toPrices({ prices, llm }: ConfigTree): (model: string) => ModelPrice | undefined {
  if (llm.adapter !== 'offline') return (model) => priceOf(model, prices);
  return (model) => {
    const price = priceOf(model, prices);
    return price && { input: 0, output: 0, pricesOf: price.pricesOf };
  };
}

/** The models of the profiles that have no price, each with its key. */
export function unpricedModels(
  profiles: ModelProfiles,
  price: (model: string) => ModelPrice | undefined,
): readonly (readonly [model: string, key: string])[] {
  const models = TOOL_NAMES.flatMap((tool) => {
    const model = profileFor(tool, profiles)?.model;
    const owner = profiles[tool]?.model === undefined ? 'answer' : tool;
    return model === undefined || price(model) !== undefined ? [] : [[model, `model_profiles.${owner}.model`] as const];
  });
  return [...new Map(models).entries()];
}

/** Reports models without a price if the quota limits dollars, because their answers would not count. */
export function checkBudget(
  quota: QuotaConfig | undefined,
  { profiles, price }: { readonly profiles: ModelProfiles; readonly price: (model: string) => ModelPrice | undefined },
  report: Report,
): void {
  const all = [quota?.limits, ...Object.values(quota?.callers ?? {})];
  if (all.every((limits) => limits?.usd === undefined)) return;
  for (const [model, key] of unpricedModels(profiles, price))
    report(key, `has no price, which http.quota.usd_per_day needs; add it to prices`, model);
}

/** The section `audit`. */
export interface AuditConfig extends Omit<ConfigTree['audit'], 'file'> {
  readonly file: string;
}

const AUDIT_FILE = 'required with audit: the path of the file to which lines are appended';

/**
 * The section `audit`; undefined without one. A section without a file is a problem, because somebody would rely on an audit that does not exist.
 * `explicit` has the paths of the keys that are set, rather than defaults.
 */
export function readAudit(
  { audit }: ConfigTree,
  explicit: ReadonlySet<string>,
  report: Report,
): AuditConfig | undefined {
  const { file } = audit;
  if (file !== undefined) return { ...audit, file };
  if ([...explicit].some((path) => path.startsWith('audit.'))) report('audit.file', AUDIT_FILE);
  return undefined;
}

/** The section `grounding`; undefined if it names no tools, so that no answer is grounded. */
export function toGroundingPolicy({ grounding }: ConfigTree): GroundingPolicy | undefined {
  const { tools } = grounding;
  if (tools === undefined || Object.keys(tools).length === 0) return undefined;
  return { ...grounding, tools };
}

/** The section `long_answers`; without it, no answer takes minutes. The notice is about a key without effect. */
export function toLongAnswers({ longAnswers, llm }: ConfigTree, apiKey: string | undefined) {
  // Answers that are recorded, or come from a recording, end with their calls.
  const isLong = longAnswers.tools.length > 0 && llm.adapter !== 'offline' && llm.record === undefined;
  if (!isLong) return { notice: [] };
  return apiKey !== undefined && apiKey.length < MIN_SIGNING_KEY
    ? { notice: [SHORT_KEY] }
    : { longAnswers, notice: [] };
}

/** Minimum length of an API key from which the key for handles is derived: guesses of a shorter one could be checked with any handle. */
const MIN_SIGNING_KEY = 20;
const SHORT_KEY: ConfigProblem = {
  where: 'long_answers.tools',
  message: `has no effect, because the API key has fewer than ${MIN_SIGNING_KEY} characters: handles of answers could be guessed`,
};

/** The IANA time zone that `clock.time_zone` names; `system` is the zone of this machine. */
export function toZone(zone: string): string {
  return zone === 'system' ? new Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}

/** Hosts in Unicode and in ASCII, such as `例え.jp` and `xn--r8jz45g.jp`, because pages are cited in either form. */
export function inBothForms(hosts: readonly string[]): readonly string[] {
  return [...new Set(hosts.flatMap((host) => [host, domainToASCII(host) || host, domainToUnicode(host) || host]))];
}

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
