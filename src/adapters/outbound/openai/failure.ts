import { APIConnectionError, APIError } from 'openai';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { causesOf, certificateProblem, codeOf } from '../../../domain/values/certificate-problem.ts';
import { cleanLine, clip } from '../../../domain/values/clean-text.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { RefusedResponse } from './api-fetch.ts';
import { type Refusal, type RefusalPlaces, readRefusal } from './refusal.ts';
import type { Rejection } from './rejections.ts';

/** Why an attempt failed, and whether to try again. */
export interface Failure {
  readonly error: SearchError;
  /** Whether waiting may help: after a 429 except for exhausted quotas, a 408, 409, 425 or 5xx, or a broken connection. */
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
  /** The headers of the response, and when they came. */
  readonly response?: { readonly headers: Headers; readonly now: Date };
}

/** Codes and types of a refusal that waiting cannot resolve, because someone has to pay. */
const EXHAUSTED_QUOTA =
  /^(?:insufficient_(?:quota|credits?|funds|balance)\w*|exceeded_current_quota\w*|billing_\w+|budget_exceeded|arrearage|access_terminated|account_deactivated|quota_exceeded|payment_required)$/;
const CONTENT_FILTER =
  /^(?:content_(?:filter|policy_violation)|bio_policy|cyber_policy)|inspection_failed|sensitive_content|responsible_ai_policy/;
/** Words of a content filter, for servers that have no code for it. */
const FILTER_WORDS = /\bviolates? (?:\w+ ){0,3}(?:usage|content|safety)[ -](?:guidelines|polic)/i;
/** Names of a refused parameter, also in a response whose status blames the server. */
const REFUSED_PARAMETER = /^(?:unsupported_|unknown_parameter|invalid_value|bad_request|invalid_request)/;
/** Too early, a conflict, or too late: the same request can succeed later. */
const PASSING: readonly number[] = [408, 409, 425];

/** The failure for a refusal of the API. Its status decides, because `type` is `invalid_request_error` for 400, 401, 403 and 404 alike. */
export function toFailure(places: RefusalPlaces & { readonly name: string }, context: FailureContext): Failure {
  const refusal = readRefusal(places);
  const { status, names, code, type, message, retryAfterMs } = refusal;
  const permission = status === 401 ? missingPermission(message) : undefined;
  const detail = excerpt(permission ?? message, context);
  const diagnostics = withoutUndefined({
    status,
    name: places.name,
    type: type && cleanLine(context.redactor.inLogs(type)),
  });
  // The message of any other 401 contains the key, partly masked, so no part of it is kept.
  const isSecret = status === 401 && permission === undefined;
  const body = typeof places.body === 'string' ? places.body : JSON.stringify(places.body);
  const log = withoutUndefined({
    status,
    name: places.name,
    code,
    ...(isSecret ? { message: '(omitted)' } : { message: permission ?? message, body }),
  });
  const permanent = (error: SearchError): Failure => ({ error: { ...error, diagnostics }, isTransient: false, log });
  const transient = (kind: 'rate_limited' | 'server_error'): Failure => ({
    error: { kind, attempts: context.attempt, detail, diagnostics, ...withoutUndefined({ retryAfterMs }) },
    isTransient: true,
    log,
  });

  const known = knownReason(refusal, detail, context);
  if (known !== undefined) return permanent(known);
  if (status === undefined) {
    const reason = excerpt([code ?? type ?? '', message].filter((part) => part !== '').join(': '), context);
    return permanentFailure({ kind: 'failed', detail: reason || 'no reason given' }, reason, body);
  }
  const { param } = refusal;
  const rejection = { param, message };
  if (status === 429) return transient('rate_limited');
  if (status >= 500) {
    const isRefused = status === 501 || param !== '' || names.some((name) => REFUSED_PARAMETER.test(name));
    return { ...transient('server_error'), ...(isRefused && { rejection }) };
  }
  if (PASSING.includes(status)) return transient('server_error');
  const failure = permanent({ kind: 'bad_request', detail });
  return status === 400 || status === 422 ? { ...failure, rejection } : failure;
}

/** The reason of a refusal that no wait and no other request can resolve. */
function knownReason(refusal: Refusal, detail: string, context: FailureContext): SearchError | undefined {
  const { status, names, param, message } = refusal;
  const variable = context.apiKeyVariable;
  const isNamed = (pattern: RegExp) => names.some((name) => pattern.test(name));
  // Checked first, because the API also sends it with status 401.
  if (isNamed(/^data_residency_mismatch$/)) return { kind: 'data_residency', detail };
  if (status === 401)
    return missingPermission(message) === undefined
      ? { kind: 'rejected_api_key', variable }
      : { kind: 'missing_permission', variable, detail };
  if (isNamed(/^misalignment_policy_violation$/)) {
    const parts = [detail, excerpt(cleanLine(refusal.explanation), context)];
    return { kind: 'policy_violation', detail: parts.filter((part) => part !== '').join(' ') };
  }
  // OpenRouter sends `invalid_prompt` for a malformed request, too.
  const isPromptRefused = isNamed(/^invalid_prompt$/) && !/\brequest\b/i.test(message);
  const isFiltered = isNamed(CONTENT_FILTER) || (status === 403 && FILTER_WORDS.test(message));
  if (isFiltered || isPromptRefused) return { kind: 'content_filtered' };
  if (status === 402 || isNamed(EXHAUSTED_QUOTA)) return { kind: 'quota_exhausted', detail };
  if (status === 403) return { kind: 'forbidden', detail };
  const isAboutModel = status === 404 && /\bmodel\b/i.test(`${param} ${message}`);
  return isNamed(/^(?:model|deployment)_not_found$/) || isAboutModel
    ? { kind: 'model_not_found', model: context.model, detail }
    : undefined;
}

/** The failure for a refusal that the API reported in a response with status 200; it counts like the status of its codes. */
export function toStreamFailure(body: unknown, context: FailureContext): Failure {
  const { headers, now = new Date(0) } = context.response ?? {};
  return toFailure({ status: 200, headers, body, now, name: 'ResponseFailed' }, context);
}

/** The part of a 401's message that says which permission the key does not have. It contains no key. */
function missingPermission(message: string): string | undefined {
  return /Missing scopes?: [\w.,: -]+/i.exec(message)?.[0].replace(/\. .*$|\.$/, '');
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
  const { status, headers, message, error } = thrown;
  return toFailure({ status, headers, body: error ?? message, now, name: thrown.constructor.name }, context);
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
