import type { ResponseCreateParamsStreaming, WebSearchTool } from 'openai/resources/responses/responses';
import type { SearchRequest } from '../../../application/ports/llm-search.ts';
import { modelSupport } from '../../../domain/model-profile.ts';
import type { Question } from '../../../domain/question.ts';

/** The package's type lacks `max_tool_calls`, which the API takes. */
export type RequestBody = ResponseCreateParamsStreaming & { readonly max_tool_calls?: number };

export interface RequestOptions {
  readonly store: boolean;
  readonly domainFilter: 'hint' | 'strict';
  readonly userLocation?: {
    readonly country?: string;
    readonly region?: string;
    readonly city?: string;
    readonly timezone?: string;
  };
}

/** The request body of a question (spec 6.4, rulings 10, 16 and 17). */
export function toRequestBody(request: SearchRequest, options: RequestOptions): RequestBody {
  const { question, profile, instructions, today } = request;
  const supports = modelSupport(profile.model);
  return {
    model: profile.model,
    instructions,
    input: toInput(question, today),
    tools: [toTool(request, options)],
    include: ['web_search_call.action.sources'],
    ...(supports.verbosity && profile.verbosity !== undefined ? { text: { verbosity: profile.verbosity } } : {}),
    ...(supports.reasoning && profile.reasoningEffort !== undefined
      ? { reasoning: { effort: profile.reasoningEffort } }
      : {}),
    ...(profile.maxOutputTokens === undefined ? {} : { max_output_tokens: profile.maxOutputTokens }),
    ...(profile.maxToolCalls === undefined ? {} : { max_tool_calls: profile.maxToolCalls }),
    store: options.store,
    stream: true,
  };
}

/**
 * The optional parameters that may be left out when a model refuses them, by the name that the API gives as `param`. Not
 * `store` and the domain filter: who set those wants them kept, or no answer.
 */
const OPTIONAL_PARAMETERS: readonly (readonly [RegExp, (body: RequestBody) => RequestBody])[] = [
  [/^reasoning\b/, ({ reasoning: _, ...body }) => body],
  [/^text\b/, ({ text: _, ...body }) => body],
  [/^include\b/, ({ include: _, ...body }) => body],
  [/^max_output_tokens$/, ({ max_output_tokens: _, ...body }) => body],
  [/^max_tool_calls$/, ({ max_tool_calls: _, ...body }) => body],
  [/^tools\b.*\bsearch_context_size$/, (body) => withoutToolOption(body, 'search_context_size')],
  [/^tools\b.*\buser_location\b/, (body) => withoutToolOption(body, 'user_location')],
];

/** The body without the optional parameter that `param` names; undefined if it holds no such parameter (ruling 12). */
export function withoutParameter(body: RequestBody, param: string): RequestBody | undefined {
  const leaveOut = OPTIONAL_PARAMETERS.find(([name]) => name.test(param))?.[1];
  const shorter = leaveOut?.(body);
  return shorter !== undefined && JSON.stringify(shorter) !== JSON.stringify(body) ? shorter : undefined;
}

/** The hints stand behind the query, with today's date, so that the instructions stay the same from day to day. */
function toInput({ query, recencyDays, maxResults, domains }: Question, today: string): string {
  const hints = [`recency_days=${recencyDays}`, `max_results=${maxResults}`];
  if (domains.length > 0) hints.push(`domains=${domains.join(', ')}`);
  return `${query}\n\n[Search hints] ${hints.join('; ')}\n[Today] ${today} (Asia/Tokyo)`;
}

function toTool({ question, profile }: SearchRequest, { domainFilter, userLocation }: RequestOptions): WebSearchTool {
  const isStrict = domainFilter === 'strict' && question.domains.length > 0;
  return {
    type: 'web_search',
    ...(profile.searchContextSize === undefined ? {} : { search_context_size: profile.searchContextSize }),
    ...(userLocation === undefined ? {} : { user_location: { type: 'approximate', ...userLocation } }),
    ...(isStrict ? { filters: { allowed_domains: question.domains.map(toAscii) } } : {}),
  };
}

/** The API wants host names as they go over the wire. */
function toAscii(host: string): string {
  return URL.canParse(`https://${host}`) ? new URL(`https://${host}`).hostname : host;
}

function withoutToolOption(body: RequestBody, option: string): RequestBody {
  const tools = body.tools?.map((tool) => {
    const { [option]: _, ...rest } = tool as unknown as Record<string, unknown>;
    return rest as unknown as typeof tool;
  });
  return tools === undefined ? body : { ...body, tools };
}
