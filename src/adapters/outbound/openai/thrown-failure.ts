import { APIConnectionError, APIError } from 'openai';
import { causesOf, certificateProblem, codeOf } from '../../../domain/values/certificate-problem.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { RefusedResponse } from './api-exchange.ts';
import { excerpt, type Failure, type FailureContext, permanentFailure, toFailure } from './failure.ts';
import { asObject } from './json-values.ts';

/** Matches problems of certificates, which do not pass. */
const PERMANENT = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

/** The failure for an exception of the `openai` package, of `fetch`, or of reading the response. `now` is for `retry-after`. */
export function toThrownFailure(thrown: unknown, context: FailureContext, now = new Date(0)): Failure {
  if (!(thrown instanceof APIError) || thrown instanceof APIConnectionError || thrown.status === undefined) {
    const refused = causesOf(thrown).find((cause) => cause instanceof RefusedResponse);
    if (refused === undefined) return toConnectionFailure(thrown, context);
    const detail = excerpt(refused.message, context);
    return permanentFailure({ kind: 'unreadable_reply', detail }, detail);
  }
  const { status, headers, message } = thrown;
  const isHtml = /<(?:!doctype|html|head|body)\b/i.test(message);
  const error = asObject(thrown.error) ?? { message: isHtml ? '' : message };
  const retryAfterMs = readRetryAfter(headers, now);
  return toFailure({ status, error, name: thrown.constructor.name, retryAfterMs }, context);
}

/** The failure for a connection that was not made, or that broke before a complete response. */
function toConnectionFailure(error: unknown, context: FailureContext): Failure {
  const causes = causesOf(error);
  const code = causes.map(codeOf).find((code) => code !== undefined);
  // The outermost message is often `fetch failed`, which explains nothing.
  const message = causes.at(-1)?.message ?? String(error);
  const name = error instanceof Error ? error.name : undefined;
  return {
    error: {
      kind: 'connection_failed',
      attempts: context.attempt,
      host: context.route,
      detail: code ?? excerpt(message, context),
      diagnostics: withoutUndefined({ status: code, name }),
    },
    isTransient: !PERMANENT.test(code ?? message),
    log: withoutUndefined({ message: certificateProblem(error) ?? message, code, name }),
  };
}

/** The requested wait in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
function readRetryAfter(headers: Headers | undefined, now: Date): number | undefined {
  const inMs = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (inMs > 0) return inMs;
  const header = headers?.get('retry-after')?.trim() ?? '';
  const waitMs = /^\d+(?:\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return waitMs > 0 ? waitMs : undefined;
}
