import type { ToolName } from '../../../domain/tool-name.ts';
import type { Params } from './json-rpc.ts';

/** A tool as `tools/list` shows it: names, descriptions and schemas as in spec 3.1, with a description for each argument. */
export interface Tool extends Params {
  readonly name: ToolName;
  readonly description: string;
  readonly inputSchema: Params;
}

const QUERY = {
  type: 'string',
  description:
    'The question, in any language. Whole sentences work best; relative dates such as "today" are in Asia/Tokyo.',
};

const SEARCH_SCHEMA = {
  type: 'object',
  properties: {
    query: QUERY,
    recency_days: { type: 'number', description: 'Prefer sources at most this many days old; a whole number from 0.' },
    max_results: { type: 'number', description: 'About how many sources to weigh; a whole number from 1.' },
    domains: {
      type: 'array',
      items: { type: 'string' },
      description: 'Prefer these sites: host names such as "example.com". [] means any.',
    },
  },
  required: ['query'],
};

/** The output contract (spec 3.2). Open to further fields: a client refuses a result that its schema forbids. */
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

/** It changes nothing anywhere, asks the open world, and may answer otherwise the next time. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true };

/** What the server tells a model about its tools. */
export const INSTRUCTIONS = [
  'Answers questions with current web sources. Choose answer for most questions, answer_quick for simple facts that should come fast, answer_detailed for research, comparisons and long explanations (it may take minutes).',
  'Ask in whole sentences, one topic a call, in the language of the user. Do not add a year or a date to the query by yourself: the server knows today.',
  'The result is {answer, used_search, citations[], model}; pass the sources on to the user.',
].join('\n');

/** The most that a client which knows the hint takes of one result (Claude Code). */
const LARGEST_RESULT_HINT = 500_000;

const DESCRIPTIONS: Readonly<Record<ToolName, string>> = {
  answer:
    'Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.',
  answer_detailed:
    'Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation.',
  answer_quick: 'Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions.',
};

/** The tools, for answers of at most so many characters: escaped as JSON, and twice in a result. */
export function toolList(maxAnswerChars: number): readonly Tool[] {
  const largest = Math.min(LARGEST_RESULT_HINT, Math.max(100_000, 4 * maxAnswerChars));
  return [
    tool('answer', 'Answer with web search', SEARCH_SCHEMA),
    {
      ...tool('answer_detailed', 'Detailed answer with web search', SEARCH_SCHEMA),
      _meta: { 'anthropic/maxResultSizeChars': largest },
    },
    tool('answer_quick', 'Quick answer with web search', {
      type: 'object',
      properties: { query: QUERY },
      required: ['query'],
    }),
  ];
}

function tool(name: ToolName, title: string, inputSchema: Params): Tool {
  const annotations = { title, ...ANNOTATIONS };
  return { name, title, description: DESCRIPTIONS[name], inputSchema, outputSchema: OUTPUT_SCHEMA, annotations };
}
