import type { QuotaState } from '../../../application/quota-guard.ts';
import { isObject } from '../../../domain/json.ts';
import { toQuotaJson } from '../words/quota-messages.ts';
import { META_PREFIX } from './era.ts';
import type { OutgoingMessage } from './json-rpc.ts';

/** Adds to a result what its caller may still use, if that is limited. */
export function withQuota(message: OutgoingMessage, left: QuotaState | undefined): OutgoingMessage {
  if (left === undefined || !('result' in message)) return message;
  const { result } = message;
  const meta = isObject(result._meta) ? result._meta : {};
  return { ...message, result: { ...result, _meta: { ...meta, [`${META_PREFIX}quota`]: toQuotaJson(left) } } };
}
