// Writes recordings/*.sse (offline mode), examples/*.sse (conversations with calls of functions) and test/fixtures/replies/*
// (one file per shape of reply, for parser tests).
// No model wrote them: edit test/fixtures/descriptions/, run this script, and commit both.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { conversations } from '../test/fixtures/descriptions/conversations.js';
import { recordings } from '../test/fixtures/descriptions/recordings.js';
import { bodies, replies } from '../test/fixtures/descriptions/replies.js';

const root = new URL('../', import.meta.url);
const MODEL = 'gpt-5.2-2025-12-11';
const TYPES = { sse: 'text/event-stream; charset=utf-8', json: 'application/json', html: 'text/html; charset=utf-8' };

for (const recording of recordings) {
  write(`recordings/${recording.file}`, headingOf(recording) + toStream({ ...recording, complete: true }));
}

for (const { rounds, ...conversation } of conversations) {
  const { file, recordedAt } = conversation;
  const streams = [];
  let history = 0;
  for (const [index, { waitMs = 0, ...round }] of rounds.entries()) {
    const time = new Date(Date.parse(recordedAt) + waitMs).toISOString();
    const reply = { ...conversation, ...round, file: `${file} ${index}`, recordedAt: time, history, complete: true };
    streams.push(toStream(reply));
    history = toResponse(reply).usage.total_tokens;
  }
  write(`examples/${file}`, headingOf(conversation) + streams.join(''));
}

for (const reply of replies) {
  const body = reply.file.endsWith('.sse') ? toStream(reply) : `${JSON.stringify(toResponse(reply), null, 2)}\n`;
  write(`test/fixtures/replies/${reply.file}`, body);
}
for (const { file, body } of bodies) {
  const text = typeof body === 'string' ? body : `${JSON.stringify(body, null, 2)}\n`;
  write(`test/fixtures/replies/${file}`, text);
}
const index = [...replies, ...bodies].map(({ file, http = 200, shape, expect }) => {
  return { file, status: http, contentType: TYPES[file.split('.').at(-1)], shape, expect };
});
write('test/fixtures/replies/INDEX.json', `${JSON.stringify(index, null, 2)}\n`);

function headingOf({ question, tool, recordedAt }) {
  return `: question: ${question}\n: tool: ${tool}\n: recorded_at: ${recordedAt}\n\n`;
}

function write(path, text) {
  const url = new URL(path, root);
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, text);
}

/** The body of a reply. It has all the keys of a real one if `complete`, else only the ones that distinguish it. */
function toResponse(reply) {
  const { file, recordedAt = '2026-11-20T03:00:00Z', status = 'completed', seconds = 4, complete, ask = {} } = reply;
  const { history = 0 } = reply;
  const createdAt = Date.parse(recordedAt) / 1000;
  const output = itemsOf(reply, createdAt);
  const searches = output.filter((item) => item.action?.type === 'search').length;
  const core = {
    id: responseId(file, createdAt),
    object: 'response',
    created_at: createdAt,
    status,
    completed_at: status === 'completed' ? createdAt + seconds : null,
    error: null,
    incomplete_details: null,
    model: MODEL,
    output,
    usage: usageOf(output, searches, history),
  };
  return { ...core, ...(complete && settingsOf(ask, searches)), ...reply.fields };
}

function settingsOf({ effort = 'low', verbosity = 'low', maxOutputTokens = null, functions = [] }, searches) {
  const none = { image_tokens: 0, text_tokens: 0 };
  const images = { input_tokens: 0, input_tokens_details: none, output_tokens: 0, output_tokens_details: none };
  const place = { type: 'approximate', city: null, country: 'US', region: null, timezone: null };
  const search = { type: 'web_search', return_token_budget: 'default', search_content_types: ['text'] };
  return {
    background: false,
    frequency_penalty: 0,
    instructions: null,
    max_output_tokens: maxOutputTokens,
    max_tool_calls: null,
    moderation: null,
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: '24h',
    reasoning: { context: 'current_turn', effort, mode: 'standard', summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity },
    tool_choice: 'auto',
    tool_usage: { image_gen: { ...images, total_tokens: 0 }, web_search: { num_requests: searches } },
    tools: [{ ...search, search_context_size: 'medium', user_location: place }, ...functions],
    top_logprobs: 0,
    top_p: 0.98,
    truncation: 'disabled',
    user: null,
    metadata: {},
  };
}

/** `history` has the tokens of the earlier rounds, which are sent again. */
function usageOf(output, searches, history) {
  const input = 412 + 8_160 * searches + history;
  const reasoning = 64 * output.filter((item) => item.type === 'reasoning').length;
  const written = Math.ceil(JSON.stringify(output).length / 12) + reasoning;
  return {
    input_tokens: input,
    input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + written,
  };
}

function itemsOf({ file, items }, createdAt) {
  return items.map((item, index) => toItem(item, (prefix) => itemId(file, createdAt, prefix, index)));
}

function toItem(item, id) {
  if ('raw' in item) return item.raw;
  if ('think' in item) return { id: id('rs'), type: 'reasoning', summary: [], ...item.think };
  if ('call' in item) return { id: id('ws'), type: 'web_search_call', status: 'completed', ...item.call };
  if ('search' in item) return toItem({ call: { action: { type: 'search', ...withSources(item.search) } } }, id);
  if ('open' in item) return toItem({ call: { action: { type: 'open_page', url: item.open } } }, id);
  if ('find' in item) return toItem({ call: { action: { type: 'find_in_page', ...item.find } } }, id);
  if ('run' in item) return { id: id('fc'), type: 'function_call', status: 'completed', ...toCall(item.run, id) };
  const { say, refuse, status = 'completed', ...phase } = item;
  const part = refuse === undefined ? { ...cite(say) } : { type: 'refusal', refusal: refuse };
  return { id: id('msg'), type: 'message', status, content: [part], ...phase, role: 'assistant' };
}

function toCall({ name, args }, id) {
  return { arguments: JSON.stringify(args), call_id: id('call').slice(0, 29), name };
}

/** A plain string is the query; in `sources` a URL is a page and anything else the name of an API. */
function withSources(search) {
  if (typeof search === 'string') return { queries: [search], query: search };
  if (!search.sources) return search;
  const toSource = (text) => (text.startsWith('http') ? { type: 'url', url: text } : { type: 'api', name: text });
  return { ...search, sources: search.sources.map(toSource) };
}

/** Turns `[[url title]]` or `[[url title @@ label]]` into the Markdown link and the annotation that the API creates for it. */
function cite(markup) {
  const annotations = [];
  let text = '';
  for (const piece of markup.split(/(\[\[.*?\]\])/u)) {
    const [, url, title, label] = /^\[\[(\S+) (.*?)(?: @@ (.*))?\]\]$/u.exec(piece) ?? [];
    if (!url) {
      text += piece;
      continue;
    }
    const start = [...text].length;
    text += `([${label ?? new URL(url).hostname.replace(/^www\./, '')}](${url}))`;
    annotations.push({ type: 'url_citation', end_index: [...text].length, start_index: start, title, url });
  }
  return { type: 'output_text', annotations, logprobs: [], text };
}

/** The reply as a stream; `edit` changes the list of events (null leaves a gap in the numbers), `frame` the text. */
function toStream(reply) {
  const { edit = (events) => events, frame = (text) => text } = reply;
  const final = toResponse(reply);
  const { tool_usage, ...settings } = final;
  const usage = tool_usage && { tool_usage: settingsOf({}, 0).tool_usage };
  const opening = { ...settings, ...usage, status: 'in_progress', completed_at: null, error: null };
  Object.assign(
    opening,
    { incomplete_details: null, output: [], usage: null },
    reply.complete && { service_tier: 'auto' },
  );
  const events = [
    { type: 'response.created', response: opening },
    { type: 'response.in_progress', response: opening },
    ...itemsOf(reply, final.created_at).flatMap(itemEvents),
    { type: `response.${final.status}`, response: final },
  ];
  const lines = edit(events).map((event, number) => (event === null ? '' : toLines(event, number, reply)));
  return frame(lines.join(''));
}

function toLines(event, number, { file, obfuscation = true }) {
  if (typeof event === 'string') return event;
  const numbered = { ...event, sequence_number: number };
  if (obfuscation && /(?:text|arguments)\.delta$/.test(event.type)) {
    const filler = createHash('sha256').update(`${file} ${number}`).digest('base64').replace(/\W/g, '');
    numbered.obfuscation = filler.slice(0, 16 - (event.delta.length % 16));
  }
  return `event: ${event.type}\ndata: ${JSON.stringify(numbered)}\n\n`;
}

function itemEvents(item, output_index) {
  const at = { item_id: item.id, output_index };
  const added = { ...item };
  if (item.type === 'message') Object.assign(added, { status: 'in_progress', content: [] });
  if (item.type === 'web_search_call') Object.assign(added, { status: 'in_progress', action: undefined });
  if (item.type === 'function_call') Object.assign(added, { status: 'in_progress', arguments: '' });
  const calls = ['in_progress', 'searching', 'completed'].map((state) => `response.web_search_call.${state}`);
  return [
    { type: 'response.output_item.added', item: added, output_index },
    ...(item.type === 'web_search_call' ? calls.map((type) => ({ type, ...at })) : []),
    ...(item.type === 'function_call' ? argumentEvents(item.arguments, at) : []),
    ...(item.content ?? []).flatMap((part, content_index) => partEvents(part, { content_index, ...at })),
    { type: 'response.output_item.done', item, output_index },
  ];
}

function argumentEvents(text, at) {
  const type = 'response.function_call_arguments';
  const deltas = chunks(text, 4).map((delta) => ({ type: `${type}.delta`, delta, ...at }));
  return [...deltas, { type: `${type}.done`, arguments: text, ...at }];
}

function partEvents(part, at) {
  const { type, refusal } = part;
  const done = { type: 'response.content_part.done', ...at, part };
  const added = { ...done, type: 'response.content_part.added' };
  if (type === 'refusal') {
    const deltas = chunks(refusal, 24).map((delta) => ({ type: 'response.refusal.delta', ...at, delta }));
    return [
      { ...added, part: { type, refusal: '' } },
      ...deltas,
      { type: 'response.refusal.done', ...at, refusal },
      done,
    ];
  }
  const finished = { type: 'response.output_text.done', ...at, logprobs: [], text: part.text };
  return [{ ...added, part: { ...part, annotations: [], text: '' } }, ...textEvents(part, at), finished, done];
}

/** The deltas of a text. Each link is one delta, which its annotation follows. */
function textEvents({ text, annotations }, at) {
  const points = [...text];
  const deltas = (from, to, size) =>
    chunks(points.slice(from, to).join(''), size).map((delta) => {
      return { type: 'response.output_text.delta', ...at, delta, logprobs: [] };
    });
  let from = 0;
  const cited = annotations.flatMap((annotation, annotation_index) => {
    const { start_index, end_index } = annotation;
    const before = deltas(from, start_index, 40);
    from = end_index;
    const link = deltas(start_index, end_index, Number.POSITIVE_INFINITY);
    return [...before, ...link, { type: 'response.output_text.annotation.added', annotation, annotation_index, ...at }];
  });
  return [...cited, ...deltas(from, points.length, 40)];
}

function chunks(text, size) {
  const points = [...text];
  if (points.length <= size) return text === '' ? [] : [text];
  return [points.slice(0, size).join(''), ...chunks(points.slice(size).join(''), size)];
}

/** IDs like those of OpenAI: 18 digits that a response and its items share, the time, then digits that differ. */
function responseId(file, createdAt) {
  return `resp_${hex(file, 18)}${createdAt.toString(16)}${hex(`${file} response`, 24)}`;
}

function itemId(file, createdAt, prefix, index) {
  return `${prefix}_${hex(file, 18)}${(createdAt + 1 + index).toString(16)}${hex(`${file} ${index}`, 24)}`;
}

function hex(seed, digits) {
  return createHash('sha256').update(seed).digest('hex').slice(0, digits);
}
