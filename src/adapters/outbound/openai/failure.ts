import { APIConnectionError, APIError } from 'openai';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { causesOf, certificateProblem, codeOf } from '../../../domain/values/certificate-problem.ts';
import { cleanLine, clip } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../../domain/values/json.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { RefusedResponse } from './api-fetch.ts';
import { asObject, asText } from './json-values.ts';
import type { Rejection } from './rejections.ts';

/** Why an attempt failed, and whether to try again. */
export interface Failure {
  readonly error: SearchError;
  /** Whether waiting may help: after a 429 except for exhausted quotas, a 5xx, or a broken connection. */
  readonly isTransient: boolean;
  readonly rejection?: Rejection;
  /** For the debug log. */
  readonly log: {
    readonly status?: number | string;
    readonly name?: string;
    readonly code?: string;
    readonly message: string;
    readonly body?: string;
  };
}

/** The context of all failures of an attempt. */
export interface FailureContext {
  readonly model: string;
  readonly apiKeyVariable: string;
  /** The API's host, and the proxy on the way to it. */
  readonly route: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly redactor: Redactor;
}

/** An error of the API, from an HTTP response or from an event of a stream. */
interface ApiError {
  readonly status: number;
  readonly error: JsonObject;
  readonly name: string;
  readonly retryAfterMs?: number | undefined;
}

/** Codes and types of a 429 that waiting cannot resolve. */
const EXHAUSTED_QUOTA = /^(?:insufficient_quota|billing_\w+|access_terminated|account_deactivated|quota_exceeded)$/;
const CONTENT_FILTER = /^(?:content_(?:filter|policy_violation)|bio_policy|cyber_policy|invalid_prompt)/;

/** The failure for an API error. Its HTTP status decides, because `type` is `invalid_request_error` for 400, 401, 403 and 404 alike. */
export function toFailure({ status, error, name, retryAfterMs }: ApiError, context: FailureContext): Failure {
  const code = asText(error.code);
  const type = asText(error.type);
  const message = asText(error.message) ?? '';
  const permission = status === 401 ? missingPermission(message) : undefined;
  const detail = excerpt(permission ?? message, context) || `HTTP status ${status}`;
  const diagnostics = withoutUndefined({ status, name, type: type && cleanLine(context.redactor.inLogs(type)) });
  // The message of any other 401 contains the key, partly masked, so no part of it is kept.
  const isSecret = status === 401 && permission === undefined;
  const shown = isSecret ? { message: '(omitted)' } : { message: permission ?? message, body: JSON.stringify(error) };
  const log = withoutUndefined({ status, name, code, ...shown });
  const permanent = (error: SearchError): Failure => ({ error: { ...error, diagnostics }, isTransient: false, log });
  const transient = (kind: 'rate_limited' | 'server_error'): Failure => ({
    error: { kind, attempts: context.attempt, detail, diagnostics, ...withoutUndefined({ retryAfterMs }) },
    isTransient: true,
    log,
  });

  const variable = context.apiKeyVariable;
  // Checked first, because the API also sends it with status 401.
  if (code === 'data_residency_mismatch') return permanent({ kind: 'data_residency', detail });
  if (permission !== undefined) return permanent({ kind: 'missing_permission', variable, detail });
  if (status === 401) return permanent({ kind: 'rejected_api_key', variable });
  if ([code, type].includes('misalignment_policy_violation')) {
    const explanation = asText(asObject(error.misalignment)?.detailed_explanation) ?? '';
    const parts = [detail, excerpt(cleanLine(explanation), context)];
    return permanent({ kind: 'policy_violation', detail: parts.filter((part) => part !== '').join(' ') });
  }
  if (CONTENT_FILTER.test(code ?? type ?? '')) return permanent({ kind: 'content_filtered' });
  if (status === 403) return permanent({ kind: 'forbidden', detail });
  if (status === 429) {
    const isExhausted = [code, type].some((name) => name !== undefined && EXHAUSTED_QUOTA.test(name));
    return isExhausted ? permanent({ kind: 'quota_exhausted', detail }) : transient('rate_limited');
  }
  if (status >= 500) return transient('server_error');
  if (code === 'model_not_found' || (status === 404 && /\bmodel\b/i.test(`${error.param} ${message}`))) {
    return permanent({ kind: 'model_not_found', model: context.model, detail });
  }
  const failure = permanent({ kind: 'bad_request', detail });
  if (status !== 400) return failure;
  return { ...failure, rejection: { param: asText(error.param) ?? '', message } };
}

/** The failure for an error that the API reported in a response with status 200; it counts like the status of its code. */
export function toStreamFailure(error: unknown, context: FailureContext): Failure {
  const reported = isObject(error) ? error : {};
  const code = asText(reported.code) ?? asText(reported.type) ?? '';
  const message = asText(reported.message) ?? '';
  const status = STATUS_OF_CODE.find(([pattern]) => pattern.test(code))?.[1];
  if (status !== undefined) {
    const retryAfterMs = requestedWaitMs(message);
    return toFailure({ status, error: reported, name: 'ResponseFailed', retryAfterMs }, context);
  }
  const detail = excerpt([code, message].filter((part) => part !== '').join(': '), context) || 'no reason given';
  return permanentFailure({ kind: 'failed', detail }, detail);
}

const STATUS_OF_CODE: readonly (readonly [RegExp, number])[] = [
  [EXHAUSTED_QUOTA, 429],
  [/^rate_limit/, 429],
  [/^(?:server_error|server_is_overloaded|slow_down|overloaded\w*|internal_error|internal_server_error)$/, 500],
  [CONTENT_FILTER, 400],
  [/^invalid_api_key$/, 401],
  [/^(?:misalignment_policy_violation|data_residency_mismatch)$/, 403],
  [/^model_not_found$/, 404],
];

/** The part of a 401's message that says which permission the key does not have. It contains no key. */
function missingPermission(message: string): string | undefined {
  return /Missing scopes?: [\w.,: -]+/i.exec(message)?.[0].replace(/\. .*$|\.$/, '');
}

/** The wait in a message such as "Please try again in 1.2s": a stream has no header for it. */
function requestedWaitMs(message: string): number | undefined {
  const match = /try again in (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(message);
  return match === null ? undefined : Number(match[1]) * (match[2] === 'ms' ? 1 : 1000);
}

const DETAIL_LENGTH = 300;

/** A failure that another attempt cannot resolve, and that is not an error of the API. */
export function permanentFailure(error: SearchError, message: string, body?: string): Failure {
  return { error, isTransient: false, log: { message, ...(body === undefined ? {} : { body }) } };
}

/** One line of at most 300 characters. Keys are masked before the cut, because a part of a key would not be recognized. */
export function excerpt(text: string, { redactor }: Pick<FailureContext, 'redactor'>): string {
  return clip(redactor.inLogs(text).replace(/\s+/g, ' ').trim(), DETAIL_LENGTH);
}

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
