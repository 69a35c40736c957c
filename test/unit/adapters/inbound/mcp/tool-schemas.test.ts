import { expect, test } from 'vitest';
import { answerToolList } from '../../../../../src/adapters/inbound/mcp/tool-schemas.ts';

const query = {
  type: 'string',
  description: 'The question, in any language; relative dates such as "today" are in Asia/Tokyo.',
};
const searchSchema = {
  type: 'object',
  properties: {
    query,
    recency_days: {
      type: 'number',
      description: 'Prefer sources at most this old, in days; an integer, 0 or greater.',
    },
    max_results: {
      type: 'number',
      description: 'Approximate number of sources to use; an integer, 1 or greater.',
    },
    domains: {
      type: 'array',
      items: { type: 'string' },
      description: 'Prefer these sites: host names such as "example.com". [] means any.',
    },
  },
  required: ['query'],
};
const citation = {
  type: 'object',
  properties: {
    url: { type: 'string', description: 'a URL, or the ID of a source without one' },
    title: { type: 'string', description: 'its title' },
    published_at: {
      type: 'string',
      description: 'day of access in Asia/Tokyo, unless citations.resolve_dates found the day of publication',
    },
  },
  required: ['url', 'published_at'],
};
const outputSchema = {
  type: 'object',
  properties: {
    answer: { type: 'string', description: 'the answer, with its sources at the end' },
    used_search: { type: 'boolean', description: 'whether the web was searched' },
    citations: { type: 'array', items: citation, description: 'the most important sources' },
    model: { type: 'string', description: 'the model ID of the profile' },
  },
  required: ['answer', 'used_search', 'citations', 'model'],
};
const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true };

// S30
test('a client sees the names, descriptions and schemas of the contract', () => {
  expect(answerToolList(20_000)).toEqual([
    {
      name: 'answer',
      title: 'Answer with web search',
      description:
        'Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.',
      inputSchema: searchSchema,
      outputSchema,
      annotations: { title: 'Answer with web search', ...hints },
      _meta: { 'anthropic/alwaysLoad': true },
    },
    {
      name: 'answer_detailed',
      title: 'Detailed answer with web search',
      description:
        'Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation.',
      inputSchema: searchSchema,
      outputSchema,
      annotations: { title: 'Detailed answer with web search', ...hints },
      _meta: { 'anthropic/maxResultSizeChars': 100_000 },
    },
    {
      name: 'answer_quick',
      title: 'Quick answer with web search',
      description: 'Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions.',
      inputSchema: { type: 'object', properties: { query }, required: ['query'] },
      outputSchema,
      annotations: { title: 'Quick answer with web search', ...hints },
    },
  ]);
});

test('none of the tools is read-only if an answer may have effects, and nothing else changes', () => {
  const expected = answerToolList(20_000).map((tool) => ({
    ...tool,
    annotations: { title: tool.title, ...hints, readOnlyHint: false, destructiveHint: true },
  }));
  expect(answerToolList(20_000, true)).toEqual(expected);
});
