import type { WebSearchTool } from 'openai/resources/responses/responses';
import type { SearchRequest } from '../../../application/ports/llm-search.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import { modelSupport, type UserLocation } from '../../../domain/model-profile.ts';
import type { Question } from '../../../domain/question.ts';
import type { RequestBody, SearchTool } from './api-types.ts';

export interface RequestOptions {
  readonly store: boolean;
  readonly domainFilter: 'hint' | 'strict';
  readonly userLocation?: UserLocation;
  readonly blockedDomains?: readonly string[];
  /** False: only the cached index is searched, and nothing is fetched (ruling A3). */
  readonly live?: boolean;
  /** The type of the search tool (ruling A9). */
  readonly tool?: string;
  /** The API continues if the connection breaks (ruling A10). */
  readonly background?: boolean;
}

/** The request body for a question (spec 6.4, rulings 10, 16, 17, and A1 to A5). */
export function toRequestBody(request: SearchRequest, options: RequestOptions): RequestBody {
  const { question, profile, instructions } = request;
  const supports = modelSupport(profile.model);
  const { verbosity, reasoningEffort: effort, reasoningMode: mode, configured = [] } = profile;
  const hasVerbosity = supports.verbosity ?? configured.includes('verbosity');
  const hasEffort = supports.reasoning ?? configured.includes('reasoningEffort');
  const reasoning = withoutUndefined({ effort: hasEffort ? effort : undefined, mode });
  return {
    model: profile.model,
    instructions,
    input: toInput(question, request),
    tools: [toTool(request, options) as WebSearchTool],
    include: ['web_search_call.action.sources'],
    ...withoutUndefined({
      tool_choice: profile.search === 'required' ? { type: options.tool ?? WEB_SEARCH } : undefined,
      text: hasVerbosity && verbosity ? { verbosity } : undefined,
      reasoning: Object.keys(reasoning).length === 0 ? undefined : reasoning,
      max_output_tokens: profile.maxOutputTokens,
      max_tool_calls: profile.maxToolCalls,
      service_tier: profile.serviceTier,
      background: options.background === true ? true : undefined,
    }),
    store: options.store,
    stream: true,
  };
}

const WEB_SEARCH = 'web_search';

/** The hints and today's date follow the query, so that the instructions stay the same from day to day. */
function toInput({ query, recencyDays, maxResults, domains }: Question, { today, timeZone }: SearchRequest): string {
  const hints = [`recency_days=${recencyDays}`, `max_results=${maxResults}`];
  if (domains.length > 0) hints.push(`domains=${domains.join(', ')}`);
  return `${query}\n\n[Search hints] ${hints.join('; ')}\n[Today] ${today} (${timeZone})`;
}

function toTool({ question, profile }: SearchRequest, options: RequestOptions): SearchTool {
  const { domainFilter, userLocation, blockedDomains = [], live = true, tool = WEB_SEARCH } = options;
  const isStrict = domainFilter === 'strict' && question.domains.length > 0;
  const filters = {
    ...(isStrict && { allowed_domains: question.domains.map(toAscii) }),
    ...(blockedDomains.length > 0 && { blocked_domains: blockedDomains.map(toAscii) }),
  };
  return withoutUndefined({
    type: tool,
    search_context_size: profile.searchContextSize,
    // Without a location, the API searches as if the user were in the United States.
    user_location: { type: 'approximate' as const, ...userLocation },
    filters: Object.keys(filters).length === 0 ? undefined : filters,
    external_web_access: live ? undefined : false,
    return_token_budget: profile.returnTokenBudget,
  });
}

/** The API expects host names in their ASCII form. */
function toAscii(host: string): string {
  return URL.canParse(`https://${host}`) ? new URL(`https://${host}`).hostname : host;
}
