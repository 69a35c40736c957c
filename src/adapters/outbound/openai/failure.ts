import type { SearchError } from '../../../domain/answer-error.ts';
import { cleanLine } from '../../../domain/clean-text.ts';
import { asObject, asText, type JsonObject } from './json.ts';

/** Why an attempt failed, and whether another may mend it. */
export interface Failure {
  readonly error: SearchError;
  /** Waiting may help: 429 but for spent quotas, 5xx, a broken connection (ruling 12). */
  readonly isPassing: boolean;
  /** How long the API asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The parameter that the API refused. */
  readonly rejectedParameter?: string;
  /** What the debug log says of it. */
  readonly log: {
    readonly status?: number | string;
    readonly name?: string;
    readonly code?: string;
    readonly message: string;
    readonly body?: string;
  };
}

/** What is the same for every failure of one search. */
export interface FailureContext {
  readonly model: string;
  readonly apiKeyVariable: string;
  readonly host: string;
  readonly attempt: number;
  /** Takes keys out of what the API said. */
  readonly redact: (text: string) => string;
}

/** The API's own account of an error, from an HTTP error or from inside a stream. */
export interface ApiError {
  readonly status: number;
  readonly error: JsonObject;
  readonly name: string;
  readonly retryAfterMs?: number;
}

const DETAIL_LENGTH = 300;

/** 429s that waiting cannot mend, told by code or type. */
const SPENT_QUOTA = /^(?:insufficient_quota|billing_\w+|access_terminated|account_deactivated|quota_exceeded)$/;
const SPENT_QUOTA_WORDS = /exceeded your current quota|billing details|billing hard limit/i;

/**
 * The failure that an API error means, told by its HTTP status: the `type` is `invalid_request_error` for 400, 401, 403
 * and 404 alike.
 */
export function toFailure({ status, error, name, retryAfterMs }: ApiError, context: FailureContext): Failure {
  const code = asText(error.code);
  const type = asText(error.type);
  const message = asText(error.message) ?? '';
  const detail = excerpt(context.redact(message)) || `HTTP status ${status}`;
  const diagnostics = { status, name, ...(type === undefined ? {} : { type: cleanLine(context.redact(type)) }) };
  // The message of a 401 repeats the key, partly starred: nothing of it is kept.
  const said = status === 401 ? { message: '(left out)' } : { message, body: JSON.stringify(error) };
  const log = { status, name, ...said, ...(code === undefined ? {} : { code }) };
  const lasting = (error: SearchError): Failure => ({ error: { ...error, diagnostics }, isPassing: false, log });
  const passing = (kind: 'rate_limited' | 'server_error'): Failure => ({
    error: { kind, attempts: context.attempt, detail, diagnostics, ...waitOf(retryAfterMs) },
    isPassing: true,
    ...waitOf(retryAfterMs),
    log,
  });

  if (status === 401) return lasting({ kind: 'rejected_api_key', variable: context.apiKeyVariable });
  if (status === 403) return lasting({ kind: 'forbidden', detail });
  if (status === 429) {
    const isSpent =
      [code, type].some((word) => word !== undefined && SPENT_QUOTA.test(word)) || SPENT_QUOTA_WORDS.test(message);
    return isSpent ? lasting({ kind: 'quota_exhausted', detail }) : passing('rate_limited');
  }
  if (status >= 500) return passing('server_error');
  if (/^content_(?:filter|policy_violation)/.test(code ?? '')) return lasting({ kind: 'content_filtered' });
  if (code === 'model_not_found' || (status === 404 && /\bmodel\b/i.test(`${error.param} ${message}`))) {
    return lasting({ kind: 'model_not_found', model: context.model, detail });
  }
  const rejected = status === 400 ? asText(error.param) : undefined;
  const failure = lasting({ kind: 'bad_request', detail });
  return rejected === undefined ? failure : { ...failure, rejectedParameter: rejected };
}

/** A failure that the API reported inside a reply with status 200 counts like its status (ruling 12). */
export function toStreamFailure(error: unknown, context: FailureContext): Failure {
  const said = asObject(error) ?? {};
  const code = asText(said.code) ?? asText(said.type) ?? '';
  const status = STATUS_OF_CODE.find(([pattern]) => pattern.test(code))?.[1];
  const message = asText(said.message) ?? '';
  if (status !== undefined) {
    return toFailure({ status, error: said, name: 'ResponseFailed', ...waitOf(waitInWords(message)) }, context);
  }
  const detail = excerpt(context.redact([code, message].filter((part) => part !== '').join(': '))) || 'no reason given';
  return plainFailure({ kind: 'failed', detail }, detail);
}

const STATUS_OF_CODE: readonly (readonly [RegExp, number])[] = [
  [SPENT_QUOTA, 429],
  [/^rate_limit/, 429],
  [/^(?:server_error|server_is_overloaded|slow_down|overloaded\w*|internal_error|internal_server_error)$/, 500],
  [/^content_(?:filter|policy_violation)/, 400],
  [/^invalid_api_key$/, 401],
  [/^model_not_found$/, 404],
];

/** A connection that broke before an answer came; another attempt may do better. */
export function toConnectionFailure(error: unknown, context: FailureContext): Failure {
  const code = codeOf(error);
  const message = innermostMessage(error);
  const detail = code ?? excerpt(context.redact(message));
  return {
    error: {
      kind: 'connection_failed',
      attempts: context.attempt,
      host: context.host,
      detail,
      diagnostics: {
        ...(code === undefined ? {} : { status: code }),
        ...(error instanceof Error ? { name: error.name } : {}),
      },
    },
    isPassing: !LASTING_CODES.test(code ?? message),
    log: { message, ...(code === undefined ? {} : { code }), ...(error instanceof Error ? { name: error.name } : {}) },
  };
}

/** Certificates do not mend themselves, and a silence of 300 s is a time-out, which is not repeated. */
const LASTING_CODES =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|ERR_INVALID_URL|^bad port$/;

export function plainFailure(error: SearchError, message: string, body?: string): Failure {
  return { error, isPassing: false, log: { message, ...(body === undefined ? {} : { body }) } };
}

/** One line of at most 300 characters. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > DETAIL_LENGTH ? `${characters.slice(0, DETAIL_LENGTH).join('')}…` : line;
}

/** The wait that a message names in words: "Please try again in 1.2s". In a stream there is no header to say it. */
function waitInWords(message: string): number | undefined {
  const match = /try again in (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(message);
  return match === null ? undefined : Number(match[1]) * (match[2] === 'ms' ? 1 : 1000);
}

function waitOf(retryAfterMs: number | undefined): { readonly retryAfterMs?: number } {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** The code of a system or undici error, wherever in the chain of causes it stands. */
function codeOf(error: unknown): string | undefined {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 6; cause = cause.cause, depth += 1) {
    const code = asText((cause as NodeJS.ErrnoException).code);
    if (code !== undefined) return code;
  }
  return undefined;
}

/** `fetch failed` says nothing; its cause does. */
function innermostMessage(error: unknown): string {
  let innermost = error;
  for (let depth = 0; innermost instanceof Error && innermost.cause instanceof Error && depth < 6; depth += 1) {
    innermost = innermost.cause;
  }
  return innermost instanceof Error ? innermost.message : String(innermost);
}
