import { err, ok, type Result } from 'neverthrow';
import type { SearchReply, SearchReport, TokenUsage } from '../../../application/ports/llm-search.ts';
import type { CitedPage } from '../../../domain/citation.ts';
import type { ReplyEnding } from '../../../domain/reply.ts';
import { tokyoDate } from '../../../domain/tokyo-date.ts';
import { excerpt, type Failure, type FailureContext, plainFailure, toStreamFailure } from './failure.ts';
import { asNumber, asObject, asText, type JsonObject, objectsOf } from './json.ts';
import { consultedBy, isSearch, openedPage, queriesOf } from './search-calls.ts';

/**
 * The reply that a response of the API holds; each terminal state has its own meaning (ruling 14). With `isDated` its
 * sources were seen when it was made.
 */
export function toSearchReply(
  response: JsonObject,
  context: FailureContext,
  isDated = false,
): Result<SearchReply, Failure> {
  const error = asObject(response.error);
  const reason = asText(asObject(response.incomplete_details)?.reason);
  if (response.status === 'failed' || error !== undefined) return err(toStreamFailure(error, context));
  if (reason === 'content_filter') return err(plainFailure({ kind: 'content_filtered' }, reason));
  if (!Array.isArray(response.output)) return err(unreadable('a reply without output', response));
  if (response.status === undefined && response.output.length === 0) return err(unreadable('an empty reply', response));
  if (!/^(?:completed|incomplete|undefined)$/.test(String(response.status))) {
    const detail = excerpt(context.redact(`the API answered with status ${String(response.status)}`));
    return err(plainFailure({ kind: 'failed', detail }, detail));
  }

  const items = objectsOf(response.output);
  const calls = items.filter((item) => item.type === 'web_search_call');
  const messages = answeringMessages(items);
  const parts = messages.flatMap((message) => objectsOf(message.content));
  return ok({
    text: messages
      .map(textOf)
      .filter((text) => text !== '')
      .join('\n\n'),
    ending: endingOf(response.status === 'incomplete', reason, parts),
    searched: calls.length > 0,
    sources: {
      cited: parts.flatMap(citedPages),
      consulted: calls.flatMap(consultedBy),
      opened: calls.map(openedPage).filter((url) => url !== undefined),
    },
    ...(isDated ? accessedOn(response) : {}),
    report: toReport(response, calls, context.attempt),
  });
}

/** Commentary is not the answer: where messages carry `phase`, those with `final_answer` make it (ruling 19). */
function answeringMessages(items: readonly JsonObject[]): readonly JsonObject[] {
  const messages = items.filter((item) => item.type === 'message');
  const final = messages.filter((message) => message.phase === 'final_answer');
  return final.length > 0 ? final : messages.filter((message) => message.phase !== 'commentary');
}

function textOf(message: JsonObject): string {
  return objectsOf(message.content)
    .map((part) => asText(part.text) ?? asText(part.refusal) ?? '')
    .join('');
}

function endingOf(isIncomplete: boolean, reason: string | undefined, parts: readonly JsonObject[]): ReplyEnding {
  if (isIncomplete) return { kind: 'cut', reason: reason ?? 'incomplete' };
  return parts.some((part) => part.type === 'refusal') ? { kind: 'refused' } : { kind: 'complete' };
}

function citedPages(part: JsonObject): readonly CitedPage[] {
  return objectsOf(part.annotations)
    .filter((annotation) => annotation.type === 'url_citation')
    .flatMap((annotation) => {
      const url = asText(annotation.url);
      const title = asText(annotation.title);
      if (url === undefined) return [];
      return [title === undefined ? { url } : { url, title }];
    });
}

/** `created_at` counts seconds; published recordings may hold anything in its place. */
function accessedOn(response: JsonObject): { readonly accessedOn?: string } {
  const seconds = asNumber(response.created_at) ?? 0;
  return seconds > 0 && seconds < LAST_SECOND ? { accessedOn: tokyoDate(new Date(seconds * 1000)) } : {};
}

/** The end of the year 9999. */
const LAST_SECOND = 253_402_300_800;

function toReport(response: JsonObject, calls: readonly JsonObject[], attempts: number): SearchReport {
  const model = asText(response.model);
  const responseId = asText(response.id);
  const usage = toUsage(asObject(response.usage));
  const searches = calls.filter(isSearch);
  const counted = asNumber(asObject(asObject(response.tool_usage)?.web_search)?.num_requests);
  return {
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(usage === undefined ? {} : { usage }),
    queries: searches.flatMap(queriesOf),
    searches: counted ?? searches.length,
    attempts,
  };
}

function toUsage(usage: JsonObject | undefined): TokenUsage | undefined {
  if (usage === undefined) return undefined;
  return {
    inputTokens: asNumber(usage.input_tokens) ?? 0,
    cachedTokens: asNumber(asObject(usage.input_tokens_details)?.cached_tokens) ?? 0,
    outputTokens: asNumber(usage.output_tokens) ?? 0,
    reasoningTokens: asNumber(asObject(usage.output_tokens_details)?.reasoning_tokens) ?? 0,
  };
}

function unreadable(detail: string, response: JsonObject): Failure {
  return plainFailure({ kind: 'unreadable_reply', detail }, detail, JSON.stringify(response));
}
