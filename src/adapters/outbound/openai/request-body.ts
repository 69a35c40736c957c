import type { ResponseCreateParamsStreaming, WebSearchTool } from 'openai/resources/responses/responses';
import type { SearchRequest } from '../../../application/ports/llm-search.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import { modelSupport, type UserLocation } from '../../../domain/model-profile.ts';
import type { Question } from '../../../domain/question.ts';

/** The package's type does not have `max_tool_calls`, which the API accepts. */
export type RequestBody = ResponseCreateParamsStreaming & { readonly max_tool_calls?: number };

export interface RequestOptions {
  readonly store: boolean;
  readonly domainFilter: 'hint' | 'strict';
  readonly userLocation?: UserLocation;
}

/** The request body for a question (spec 6.4, rulings 10, 16 and 17). */
export function toRequestBody(request: SearchRequest, options: RequestOptions): RequestBody {
  const { question, profile, instructions, today } = request;
  const supports = modelSupport(profile.model);
  const { verbosity, reasoningEffort: effort } = profile;
  return {
    model: profile.model,
    instructions,
    input: toInput(question, today),
    tools: [toTool(request, options)],
    include: ['web_search_call.action.sources'],
    ...withoutUndefined({
      text: supports.verbosity && verbosity ? { verbosity } : undefined,
      reasoning: supports.reasoning && effort ? { effort } : undefined,
      max_output_tokens: profile.maxOutputTokens,
      max_tool_calls: profile.maxToolCalls,
    }),
    store: options.store,
    stream: true,
  };
}

/** The hints and today's date follow the query, so that the instructions stay the same from day to day. */
function toInput({ query, recencyDays, maxResults, domains }: Question, today: string): string {
  const hints = [`recency_days=${recencyDays}`, `max_results=${maxResults}`];
  if (domains.length > 0) hints.push(`domains=${domains.join(', ')}`);
  return `${query}\n\n[Search hints] ${hints.join('; ')}\n[Today] ${today} (Asia/Tokyo)`;
}

function toTool({ question, profile }: SearchRequest, { domainFilter, userLocation }: RequestOptions): WebSearchTool {
  const isStrict = domainFilter === 'strict' && question.domains.length > 0;
  return withoutUndefined({
    type: 'web_search' as const,
    search_context_size: profile.searchContextSize,
    user_location: userLocation && { type: 'approximate' as const, ...userLocation },
    filters: isStrict ? { allowed_domains: question.domains.map(toAscii) } : undefined,
  });
}

/** The API expects host names in their ASCII form. */
function toAscii(host: string): string {
  return URL.canParse(`https://${host}`) ? new URL(`https://${host}`).hostname : host;
}
