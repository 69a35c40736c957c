import { createHash } from 'node:crypto';

export type JsonObject = Record<string, unknown>;

/** What the fake model returns, and how. */
export interface AnswerScript {
  readonly text: string;
  readonly options: AnswerOptions;
}

export interface AnswerOptions {
  /**
   * A citation spans the Markdown link of its URL in the text (with the parentheses around it, as the model writes it),
   * searched after the link before it. If the text does not contain the URL, the span is empty and at the end of the
   * text: the text is never changed.
   */
  readonly citations?: readonly { readonly url: string; readonly title: string }[];
  /** Sent only if the request's `include` asks for `web_search_call.action.sources`, as the real API does. */
  readonly sources?: readonly ({ readonly url: string } | { readonly name: string })[];
  /** Whether the model searched, or its query. Default: it did if there are citations or sources. */
  readonly search?: boolean | string;
  /** Default: the model of the request. */
  readonly model?: string;
  /** Time before the headers of the response. */
  readonly delayMs?: number;
  /** The number of deltas of the text, at most one per code point. Default: 4. */
  readonly chunks?: number;
  /** A refusal instead of the text. */
  readonly refusal?: string;
  /** With an empty text there is no message at all: the limit was reached before it. */
  readonly incomplete?: 'max_output_tokens' | 'content_filter';
  readonly phase?: 'commentary' | 'final_answer';
  /** A message of phase `commentary` before the answer, which is then `final_answer`. */
  readonly commentary?: string;
}

/** The parts of the request that its response repeats; `number` makes ids that differ from request to request. */
export interface AskedRequest {
  readonly body: JsonObject;
  readonly number: number;
}

export interface UrlCitation {
  readonly type: 'url_citation';
  readonly end_index: number;
  readonly start_index: number;
  readonly title: string;
  readonly url: string;
}

export type ContentPart =
  | {
      readonly type: 'output_text';
      readonly annotations: readonly UrlCitation[];
      readonly logprobs: readonly [];
      readonly text: string;
    }
  | { readonly type: 'refusal'; readonly refusal: string };

export interface MessageItem {
  readonly id: string;
  readonly type: 'message';
  readonly status: 'completed' | 'incomplete';
  readonly content: readonly [ContentPart];
  readonly phase?: string;
  readonly role: 'assistant';
}

export interface SearchCallItem {
  readonly id: string;
  readonly type: 'web_search_call';
  readonly status: 'completed';
  readonly action: JsonObject;
}

export type OutputItem = SearchCallItem | MessageItem;

export interface ApiResponse extends JsonObject {
  readonly id: string;
  readonly status: 'completed' | 'incomplete';
  readonly output: readonly OutputItem[];
}

/** The Response object that ends a stream, or is the complete body without one: same keys as in recorded replies. */
export function toApiResponse(script: AnswerScript, request: AskedRequest): ApiResponse {
  const { model, incomplete } = script.options;
  return {
    ...unfinishedResponse(request, model),
    status: incomplete === undefined ? 'completed' : 'incomplete',
    completed_at: incomplete === undefined ? CREATED_AT + 7 : null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    output: outputItems(script, request),
    service_tier: 'default',
    usage: usageOf(script.options.refusal ?? script.text),
  };
}

/** The Response object as in `response.created` and `response.in_progress`. */
export function unfinishedResponse(
  { body, number }: AskedRequest,
  model?: string,
): JsonObject & { readonly id: string } {
  return {
    id: apiId('resp', number),
    object: 'response',
    created_at: CREATED_AT,
    status: 'in_progress',
    background: body.background ?? false,
    completed_at: null,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    model: model ?? body.model ?? 'gpt-5.2-2025-12-11',
    output: [],
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: null,
    reasoning: { effort: null, summary: null, ...asObject(body.reasoning) },
    safety_identifier: null,
    service_tier: 'auto',
    store: body.store ?? true,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium', ...asObject(body.text) },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: 0,
    top_p: 0.98,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
  };
}

/** An id in the form of the API: a prefix and 50 hex digits, always the same for the same arguments. */
export function apiId(prefix: string, ...parts: readonly (string | number)[]): string {
  const digest = createHash('sha256')
    .update([prefix, ...parts].join(' '))
    .digest('hex');
  return `${prefix}_${digest.slice(0, 50)}`;
}

/** An instant in the past, the same in every reply, in seconds. */
const CREATED_AT = 1_768_775_269;

function outputItems(script: AnswerScript, request: AskedRequest): OutputItem[] {
  const { options, text } = script;
  const { citations = [], commentary, incomplete, refusal } = options;
  const items: OutputItem[] = [];
  const searched = options.search ?? (citations.length > 0 || options.sources !== undefined);
  if (searched !== false) items.push(searchCall(options, request));
  if (commentary !== undefined) {
    items.push(message(request, 'completed', textPart(commentary, []), 'commentary'));
  }
  if (incomplete !== undefined && text === '' && refusal === undefined) return items;

  const part: ContentPart =
    refusal === undefined ? textPart(text, toAnnotations(text, citations)) : { type: 'refusal', refusal };
  const phase = options.phase ?? (commentary === undefined ? undefined : 'final_answer');
  items.push(message(request, incomplete === undefined ? 'completed' : 'incomplete', part, phase));
  return items;
}

function searchCall({ search, sources }: AnswerOptions, { body, number }: AskedRequest): SearchCallItem {
  const query = typeof search === 'string' ? search : 'what the user asked';
  const asked = Array.isArray(body.include) && body.include.includes('web_search_call.action.sources');
  const action: JsonObject = { type: 'search', queries: [query], query };
  if (asked) {
    action.sources = (sources ?? []).map((source) =>
      'url' in source ? { type: 'url', url: source.url } : { type: 'api', name: source.name },
    );
  }
  return { id: apiId('ws', number), type: 'web_search_call', status: 'completed', action };
}

function message(
  { number }: AskedRequest,
  status: MessageItem['status'],
  part: ContentPart,
  phase: string | undefined,
): MessageItem {
  const id = apiId('msg', number, phase ?? '');
  return {
    id,
    type: 'message',
    status,
    content: [part],
    ...(phase === undefined ? {} : { phase }),
    role: 'assistant',
  };
}

export function textPart(text: string, annotations: readonly UrlCitation[]): ContentPart {
  return { type: 'output_text', annotations, logprobs: [], text };
}

export function toAnnotations(text: string, citations: NonNullable<AnswerOptions['citations']>): UrlCitation[] {
  let from = 0;
  return citations.map(({ url, title }) => {
    const [start, end] = linkSpan(text, url, from);
    from = end;
    return {
      type: 'url_citation',
      end_index: codePoints(text.slice(0, end)),
      start_index: codePoints(text.slice(0, start)),
      title,
      url,
    };
  });
}

/** The position of `([words](url))`, `[words](url)` or the bare `url`, in UTF-16 units. */
function linkSpan(text: string, url: string, from: number): [start: number, end: number] {
  const at = text.indexOf(url, from);
  if (at === -1) return [text.length, text.length];

  const end = at + url.length;
  const label = /\[[^[\]]*\]\($/u.exec(text.slice(from, at));
  if (label === null || text[end] !== ')') return [at, end];

  const start = from + label.index;
  const inParentheses = start > from && text[start - 1] === '(' && text[end + 1] === ')';
  return inParentheses ? [start - 1, end + 2] : [start, end + 1];
}

function codePoints(text: string): number {
  return [...text].length;
}

function usageOf(text: string): JsonObject {
  const input = 1200;
  const output = Math.ceil(codePoints(text) / 4);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
