import type { ToolName } from '../../../domain/tool-name.ts';
import type { Params } from './json-rpc.ts';
import type { Tool } from './tool-set.ts';

const QUERY = {
  type: 'string',
  description:
    'The question, in any language. Complete sentences work best; relative dates such as "today" are in Asia/Tokyo.',
};

const SEARCH_SCHEMA = {
  type: 'object',
  properties: {
    query: QUERY,
    recency_days: {
      type: 'number',
      description: 'Prefer sources at most this old, in days; an integer, 0 or greater.',
    },
    max_results: { type: 'number', description: 'Approximate number of sources to use; an integer, 1 or greater.' },
    domains: {
      type: 'array',
      items: { type: 'string' },
      description: 'Prefer these sites: host names such as "example.com". [] means any.',
    },
  },
  required: ['query'],
};

/** The output contract (spec 3.2). Additional fields are allowed, because clients reject results that the schema forbids. */
const OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    answer: { type: 'string' },
    used_search: { type: 'boolean' },
    citations: {
      type: 'array',
      items: {
        type: 'object',
        properties: { url: { type: 'string' }, title: { type: 'string' }, published_at: { type: 'string' } },
        required: ['url', 'published_at'],
      },
    },
    model: { type: 'string' },
  },
  required: ['answer', 'used_search', 'citations', 'model'],
};

/** Read-only, unless own tools have effects; open-world, not idempotent. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true };

/** The maximum of the hint `anthropic/maxResultSizeChars` (Claude Code). */
const MAX_RESULT_SIZE_HINT = 500_000;

const DESCRIPTIONS: Readonly<Record<ToolName, string>> = {
  answer:
    'Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.',
  answer_detailed:
    'Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation.',
  answer_quick: 'Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions.',
};

/** The answer tools (spec 3.1). A result contains the answer, of at most `maxAnswerChars`, twice, and escaped as JSON. */
export function answerToolList(maxAnswerChars: number, hasEffects = false): readonly Tool[] {
  const maxResultSize = Math.min(MAX_RESULT_SIZE_HINT, Math.max(100_000, 4 * maxAnswerChars));
  const tools = [
    tool('answer', 'Answer with web search', SEARCH_SCHEMA),
    {
      ...tool('answer_detailed', 'Detailed answer with web search', SEARCH_SCHEMA),
      _meta: { 'anthropic/maxResultSizeChars': maxResultSize },
    },
    tool('answer_quick', 'Quick answer with web search', { ...SEARCH_SCHEMA, properties: { query: QUERY } }),
  ];
  if (!hasEffects) return tools;
  // Hosts skip their confirmation for tools that only read.
  const effects = { readOnlyHint: false, destructiveHint: true };
  return tools.map((tool) => ({ ...tool, annotations: { ...(tool.annotations as Params), ...effects } }));
}

function tool(name: ToolName, title: string, inputSchema: Params): Tool {
  const annotations = { title, ...ANNOTATIONS };
  return { name, title, description: DESCRIPTIONS[name], inputSchema, outputSchema: OUTPUT_SCHEMA, annotations };
}
