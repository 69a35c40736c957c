import { err, ok, type Result } from 'neverthrow';
import type { FunctionCall, SearchReply, TokenUsage } from '../../../application/ports/llm-search.ts';
import type { CitedPage } from '../../../domain/answers/citation.ts';
import {
  asNumber,
  asObject,
  asText,
  type JsonObject,
  objectsOf,
  withoutUndefined,
} from '../../../domain/values/json.ts';
import { zonedDate } from '../../../domain/values/zoned-date.ts';
import { excerpt, type Failure, type FailureContext, permanentFailure, toStreamFailure } from './failure.ts';
import {
  annotationsOf,
  consultedBy,
  isAnswer,
  isMessage,
  isOpen,
  isSearch,
  isSearchCall,
  openedPage,
  partsOf,
  queriesOf,
  saysSomething,
  sourcesIn,
  textOf,
} from './response-forms.ts';

/** The reply in a response, by its terminal state. With `datedIn`, a time zone, the day of access is the day on which it was created. */
export function toSearchReply(
  response: JsonObject,
  context: FailureContext,
  datedIn?: string,
): Result<SearchReply, Failure> {
  const status = asText(response.status)?.toLowerCase();
  const reason = asText(asObject(response.incomplete_details)?.reason);
  // The words of `"error": true` are beside it.
  const error = response.error === true ? response : response.error || undefined;
  if (status === 'failed' || saysSomething(error)) return err(toStreamFailure(error, context));
  if (status === 'cancelled') return err(permanentFailure({ kind: 'search_cancelled' }, 'cancelled'));
  if (reason === 'content_filter') return err(permanentFailure({ kind: 'content_filtered' }, reason));
  const isEmpty = status === undefined && Array.isArray(response.output) && response.output.length === 0;
  if (!Array.isArray(response.output) || isEmpty) return err(toUnreadable(response, isEmpty, context));
  const created = createdAt(response);
  const items = objectsOf(response.output);
  const searches = items.filter(isSearchCall);
  const isKnown = status === undefined || status === 'completed' || status === 'incomplete';
  // A status of another server's own says nothing against an answer that is there.
  if (isOpen(response) || (!isKnown && !items.some(isAnswer))) {
    const detail = excerpt(`the API answered with status ${String(response.status)}`, context);
    return err(permanentFailure({ kind: 'failed', detail }, detail));
  }
  const calls =
    isKnown && status !== 'incomplete' ? items.filter(({ type }) => type === 'function_call').map(toCall) : [];
  const messages = answeringMessages(items);
  // xAI and Perplexity list the pages of all searches beside the items.
  const listed = sourcesIn([response.citations, response.search_results]);
  const isRefused = messages.flatMap(partsOf).some(({ type }) => type === 'refusal');
  return ok({
    items: items.map(toItem),
    calls,
    text: textsOf(messages).join('\n\n'),
    ending:
      status === 'incomplete'
        ? { kind: 'incomplete', reason: reason ?? 'incomplete' }
        : { kind: isRefused ? 'refused' : 'complete' },
    searched: searches.length > 0 || listed.length > 0,
    sources: {
      // Messages before a call are not the answer, but their citations are sources of it.
      cited: (calls.length > 0 ? items.filter(isMessage) : messages).flatMap(citedBy),
      consulted: [...searches.flatMap(consultedBy), ...listed],
      opened: searches.map(openedPage).filter((url) => url !== undefined),
    },
    accessedOn: datedIn && created && zonedDate(created, datedIn),
    report: withoutUndefined({
      model: asText(response.model),
      responseId: asText(response.id),
      serviceTier: asText(response.service_tier),
      ...toUse(response),
      queries: searches.filter(isSearch).flatMap(queriesOf),
      attempts: context.attempt,
    }),
  });
}

/** The failure for a response without output, which may be a refusal that a server sends with status 200. */
function toUnreadable(response: JsonObject, isEmpty: boolean, context: FailureContext): Failure {
  const refused = toStreamFailure(response, context);
  if (!isEmpty && refused.error.kind !== 'failed') return refused;
  const body = JSON.stringify(response);
  const detail = isEmpty ? 'an empty response' : excerpt(`a response without output: ${body}`, context);
  return permanentFailure({ kind: 'unreadable_reply', detail }, detail, body);
}

/** A call of a function. An incomplete one must not run. */
function toCall({ call_id: callId, name, arguments: args, status }: JsonObject): FunctionCall {
  return {
    callId: String(callId),
    name: String(name),
    arguments: typeof args === 'string' ? args : '',
    isIncomplete: status === 'incomplete',
  };
}

/** An item as it is sent back: as it was received, except for the sources of searches, which the API does not accept. */
function toItem(item: JsonObject): JsonObject {
  const action = item.type === 'web_search_call' ? asObject(item.action) : undefined;
  if (action === undefined) return item;
  const { sources: _, ...rest } = action;
  return { ...item, action: rest };
}

/** If messages have a `phase`, those with `final_answer` are the answer, and commentary is not. */
function answeringMessages(items: readonly JsonObject[]): readonly JsonObject[] {
  const messages = items.filter(isMessage);
  const final = messages.filter((message) => message.phase === 'final_answer');
  return final.length > 0 ? final : messages.filter((message) => message.phase !== 'commentary');
}

/** The texts of messages in order. The API may return the same message twice. */
function textsOf(messages: readonly JsonObject[]): readonly string[] {
  const texts = messages.map(textOf).filter((text) => text !== '');
  const words = texts.map((text) => text.trim());
  return texts.filter((_, index) => words.indexOf(words[index] ?? '') === index);
}

/** The pages that a message cites, in order: the annotations with a URL. The members of a citation may be nested, as in Chat Completions. */
function citedBy(message: JsonObject): readonly CitedPage[] {
  return annotationsOf(message)
    .map((annotation) => ({ ...annotation, ...asObject(annotation.url_citation) }))
    .filter(({ url }) => asText(url) !== undefined)
    .map(({ url, title }) => ({ url: String(url), title: asText(title) }));
}

/** When a response was created. `created_at` is in seconds, but recordings of others may contain anything. */
function createdAt(response: JsonObject): Date | undefined {
  const seconds = asNumber(response.created_at) ?? 0;
  return seconds > 0 && seconds < LAST_SECOND ? new Date(seconds * 1000) : undefined;
}

/** The end of the year 9999. */
const LAST_SECOND = 253_402_300_800;

/** The use of tokens and searches by a response, even one that failed, as far as the API reported it. */
export function toUse(response: JsonObject) {
  const reported = asCount(asObject(asObject(response.tool_usage)?.web_search)?.num_requests);
  const searches = reported ?? objectsOf(response.output).filter((item) => isSearchCall(item) && isSearch(item)).length;
  return withoutUndefined({ usage: toUsage(asObject(response.usage)), searches });
}

/** A number as an integer from 0, because metrics and quotas only count upwards, whatever a server reports. */
function asCount(value: unknown): number | undefined {
  const number = asNumber(value);
  return number && Math.min(Math.max(0, Math.round(number)), Number.MAX_SAFE_INTEGER);
}

/** The use of tokens. Gateways in front of Chat Completions use its names. */
function toUsage(usage: JsonObject | undefined): TokenUsage | undefined {
  const input = asCount(usage?.input_tokens ?? usage?.prompt_tokens);
  const output = asCount(usage?.output_tokens ?? usage?.completion_tokens);
  if (usage === undefined || (input === undefined && output === undefined)) return undefined;
  const { cached_tokens: cached, cache_write_tokens: written } =
    asObject(usage.input_tokens_details ?? usage.prompt_tokens_details) ?? {};
  const { reasoning_tokens: reasoning } =
    asObject(usage.output_tokens_details ?? usage.completion_tokens_details) ?? {};
  return withoutUndefined({
    inputTokens: input ?? 0,
    cachedTokens: asCount(cached) ?? 0,
    cacheWriteTokens: asCount(written),
    outputTokens: output ?? 0,
    reasoningTokens: asCount(reasoning) ?? 0,
  });
}
