import { domainToASCII, domainToUnicode } from 'node:url';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { type ModelProfile, type ModelProfiles, profileFor } from '../../../domain/answers/model-profile.ts';
import { type ModelPrice, priceOf, toMicro } from '../../../domain/answers/prices.ts';
import { TOOL_NAMES } from '../../../domain/answers/question.ts';
import type { GroundingPolicy } from '../../../domain/grounded/grounding.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import type { QuotaLimits, QuotaPolicy } from '../../../domain/values/quota.ts';
import type { ConfigTree } from './keys.ts';
import type { Report } from './problems.ts';

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
