import { test } from 'vitest';

const KEY = process.env.OPENAI_API_KEY?.trim() ?? '';
const BASE_URL = process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1';

/** The default model, unless `MODEL_ANSWER` names another. */
export const MODEL = process.env.MODEL_ANSWER ?? 'gpt-5.2';

/** A test that is skipped without a key. */
export const liveTest = test.skipIf(KEY === '');

// biome-ignore lint/suspicious/noExplicitAny: what the API sends is what these tests are about
export type Json = any;

/** Sends a request to the API. The body of the answer is JSON, or the events of a stream. */
export async function send(path: string, body?: object, key = KEY): Promise<{ status: number; json: Json }> {
  const response = await fetch(`${BASE_URL}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json));
  return { status: response.status, json: isStream ? events : JSON.parse(text) };
}

/** A response to a question, with the search tool as this program sends it. */
export async function ask(input: string | readonly object[], more: object = {}, tool: object = {}): Promise<Json> {
  const { status, json } = await send('/responses', {
    model: MODEL,
    input,
    store: false,
    reasoning: { effort: 'low' },
    tools: [{ type: 'web_search', search_context_size: 'low', ...tool }],
    include: ['web_search_call.action.sources'],
    ...more,
  });
  if (status !== 200) throw new Error(`HTTP ${status}: ${JSON.stringify(json)}`);
  return json;
}

export const itemsOf = (response: Json, type: string): Json[] =>
  response.output.filter((item: Json) => item.type === type);

/** The text of an answer with its annotations. */
export function textOf(response: Json): Json {
  return itemsOf(response, 'message')
    .at(-1)
    ?.content.find(({ type }: Json) => type === 'output_text');
}
