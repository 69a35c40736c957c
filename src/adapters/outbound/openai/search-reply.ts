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

/** The reply in a response, by its terminal state. With `datedIn`, a time zone, the day of access is the day on which it was created. */
export function toSearchReply(
  response: JsonObject,
  context: FailureContext,
  datedIn?: string,
): Result<SearchReply, Failure> {
  const error = response.error || undefined;
  const reason = asText(asObject(response.incomplete_details)?.reason);
  if (response.status === 'failed' || error !== undefined) return err(toStreamFailure(error, context));
  if (response.status === 'cancelled') return err(permanentFailure({ kind: 'search_cancelled' }, 'cancelled'));
  if (reason === 'content_filter') return err(permanentFailure({ kind: 'content_filtered' }, reason));
  const isEmpty = response.status === undefined && Array.isArray(response.output) && response.output.length === 0;
  if (!Array.isArray(response.output) || isEmpty) return err(toUnreadable(response, isEmpty, context));
  if (!/^(?:completed|incomplete|undefined)$/.test(String(response.status))) {
    const detail = excerpt(`the API answered with status ${String(response.status)}`, context);
    return err(permanentFailure({ kind: 'failed', detail }, detail));
  }

  const created = createdAt(response);
  const items = objectsOf(response.output);
  const searches = searchCallsIn(items);
  const isComplete = response.status === undefined || response.status === 'completed';
  const calls = isComplete ? items.filter(({ type }) => type === 'function_call').map(toCall) : [];
  const messages = answeringMessages(items);
  const isRefused = messages.flatMap(({ content }) => objectsOf(content)).some(({ type }) => type === 'refusal');
  return ok({
    items: items.map(toItem),
    calls,
    text: textsOf(messages).join('\n\n'),
    ending:
      response.status === 'incomplete'
        ? { kind: 'incomplete', reason: reason ?? 'incomplete' }
        : { kind: isRefused ? 'refused' : 'complete' },
    searched: searches.length > 0,
    sources: {
      // Messages before a call are not the answer, but their citations are sources of it.
      cited: (calls.length > 0 ? items.filter(isMessage) : messages).flatMap(citedBy),
      // xAI lists the pages of all searches beside the items.
      consulted: [...searches.flatMap(consultedBy), ...textsIn(response.citations)],
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

export function isMessage({ type }: JsonObject): boolean {
  return type === 'message';
}

/** Whether an item is a complete message with a text that is no commentary. */
export function isAnswer(item: JsonObject): boolean {
  const isComplete = item.status === undefined || item.status === 'completed';
  return isMessage(item) && isComplete && item.phase !== 'commentary' && textOf(item) !== '';
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

export function textOf(message: JsonObject): string {
  const texts = objectsOf(message.content).map((part) => asText(part.text) ?? asText(part.refusal) ?? '');
  return asText(message.content) ?? texts.join('');
}

/** The pages that a message cites, in order: the annotations with a URL. The members of a citation may be nested, as in Chat Completions. */
function citedBy({ content }: JsonObject): readonly CitedPage[] {
  return objectsOf(content)
    .flatMap(({ annotations }) => objectsOf(annotations))
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
  const searches = reported ?? searchCallsIn(objectsOf(response.output)).filter(isSearch).length;
  return withoutUndefined({ usage: toUsage(asObject(response.usage)), searches });
}

function searchCallsIn(items: readonly JsonObject[]): readonly JsonObject[] {
  return items.filter(({ type }) => type === 'web_search_call');
}

/** A number as an integer from 0, because metrics and quotas only count upwards, whatever a server reports. */
function asCount(value: unknown): number | undefined {
  const number = asNumber(value);
  return number && Math.min(Math.max(0, Math.round(number)), Number.MAX_SAFE_INTEGER);
}

function toUsage(usage: JsonObject | undefined): TokenUsage | undefined {
  const [input, output] = [asCount(usage?.input_tokens), asCount(usage?.output_tokens)];
  if (usage === undefined || (input === undefined && output === undefined)) return undefined;
  const { cached_tokens: cached, cache_write_tokens: written } = asObject(usage.input_tokens_details) ?? {};
  return withoutUndefined({
    inputTokens: input ?? 0,
    cachedTokens: asCount(cached) ?? 0,
    cacheWriteTokens: asCount(written),
    outputTokens: output ?? 0,
    reasoningTokens: asCount(asObject(usage.output_tokens_details)?.reasoning_tokens) ?? 0,
  });
}

/** The queries of a `web_search_call`; `query` is the older form, and may be present in addition to `queries`. */
export function queriesOf(call: JsonObject): readonly string[] {
  const action = asObject(call.action);
  const queries = Array.isArray(action?.queries)
    ? action.queries.map(asText).filter((query) => query !== undefined)
    : [];
  const query = asText(action?.query);
  return queries.length > 0 || query === undefined ? queries : [query];
}

/** The page that a call opened or searched in. */
export function openedPage(call: JsonObject): string | undefined {
  const action = asObject(call.action);
  return action?.type === 'open_page' || action?.type === 'find_in_page' ? asText(action.url) : undefined;
}

function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.map(asText).filter((text) => text !== undefined) : [];
}

/** The sources of a search: URLs, or the name of a source without a URL (`oai-weather`). */
export function consultedBy(call: JsonObject): readonly string[] {
  const sources = objectsOf(asObject(call.action)?.sources);
  return sources.map((source) => asText(source.url) ?? asText(source.name)).filter((source) => source !== undefined);
}

/** A call without an action is a search too. */
export function isSearch(call: JsonObject): boolean {
  return !/^(?:open_page|find_in_page)$/.test(String(asObject(call.action)?.type));
}
