import type { WebAccess } from '../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import type { Failure } from './failure.ts';
import { isClosed } from './rejections.ts';
import type { RequestBody } from './request-body.ts';
import type { ResponseEvents } from './response-events.ts';

/** The failure of a request whose response has started: it is not sent again. A response whose end was not read can be looked at. */
export function toStartedFailure({ error, log }: Failure, { outcome }: ResponseEvents): Failure {
  const { diagnostics } = error;
  const interrupted = { kind: 'interrupted' as const, ...withoutUndefined({ diagnostics }) };
  return { error: outcome === undefined ? interrupted : error, isTransient: false, log };
}

/** The error of a response that was looked at, if no other call can look at it. */
export function toWatchedError(error: SearchError): SearchError {
  if (error.kind === 'unknown_answer') return { kind: 'failed', detail: 'the API no longer has the response' };
  return error.kind === 'interrupted' ? (error.reason ?? error) : error;
}

/** The error of an answer for a failure, with the more specific kinds that the request shows. */
export function toSearchError({ error, rejection }: Failure, body: RequestBody, web: WebAccess): SearchError {
  const { kind } = error;
  if (kind !== 'bad_request' && kind !== 'server_error') return error;
  const { detail } = error;
  const param = rejection?.param ?? '';
  const about = `${param} ${detail}`;
  if (kind === 'bad_request') {
    // Here, only `search.live: false` closes the search. It is not left out of a second request; the error names this key.
    if (web !== 'closed' && isClosed(body) && /external_web_access/.test(about))
      return { kind: 'cached_search_rejected', detail };
    const isAboutInput = /^input\b/.test(param) || /\bitem (?:with id )?'|No tool call found/i.test(detail);
    if (Array.isArray(body.input) && body.input.length > 1 && isAboutInput) return { kind: 'history_rejected', detail };
  }
  const isAboutWeb = (kind === 'bad_request' ? ABOUT_WEB : UNDECLARED_SEARCH).test(about);
  return web === 'closed' && isAboutWeb ? { kind: 'web_not_restricted', detail } : error;
}

const ABOUT_WEB = /^tools\b|tool_choice|allowed_tools|web_search|external_web_access/;
/** Matches the report of a back end if the history has a search, but the request declares no search tool. */
const UNDECLARED_SEARCH = /response protection/i;
