import type { ResponseCreateParamsStreaming, WebSearchTool } from 'openai/resources/responses/responses';

/** What the API accepts and the types of `openai` 6 do not have. */
export type RequestBody = Omit<ResponseCreateParamsStreaming, 'reasoning' | 'tool_choice' | 'service_tier'> & {
  readonly max_tool_calls?: number;
  readonly reasoning?: { readonly effort?: string; readonly mode?: string };
  readonly tool_choice?: unknown;
  readonly service_tier?: string;
  readonly background?: boolean;
};

/** The search tool; other servers use other types. */
export type SearchTool = Omit<WebSearchTool, 'type' | 'filters'> & {
  readonly type: string;
  readonly filters?: { readonly allowed_domains?: readonly string[]; readonly blocked_domains?: readonly string[] };
  readonly external_web_access?: boolean;
  readonly return_token_budget?: string;
};
