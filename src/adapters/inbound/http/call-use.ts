import { NOTHING_USED, type QuotaUse } from '../../../domain/quota.ts';
import { NOT_SENT } from '../../../domain/tool-call-error.ts';
import type { CallReport } from '../mcp/call-meter.ts';
import type { AccessEntry } from './access-log.ts';

type Outcome = CallReport['outcome'] | NonNullable<AccessEntry['gatewayCall']>['outcome'];

/** Outcomes of calls that were not passed on, neither to the API nor to a server. */
const NOT_RUN: ReadonlySet<Outcome> = new Set<Outcome>([
  'invalid_arguments',
  'no_profile',
  'no_api_key',
  'placeholder_api_key',
  'malformed_api_key',
  ...NOT_SENT,
]);

/** What a finished call used. A call of a tool that does not exist has no report. */
export function useOf({ call, gatewayCall }: AccessEntry): QuotaUse {
  const outcome = call?.outcome ?? gatewayCall?.outcome;
  if (outcome === undefined || NOT_RUN.has(outcome)) return NOTHING_USED;
  const { inputTokens = 0, outputTokens = 0 } = call?.usage ?? {};
  return { calls: 1, searches: call?.searches ?? 0, tokens: inputTokens + outputTokens };
}
