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

export const TOOLS: readonly Tool[] = [
  {
    name: 'answer',
    description:
      'Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.',
    inputSchema: SEARCH_SCHEMA,
  },
  {
    name: 'answer_detailed',
    description:
      'Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation.',
    inputSchema: SEARCH_SCHEMA,
  },
  {
    name: 'answer_quick',
    description: 'Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions.',
    inputSchema: { type: 'object', properties: { query: QUERY }, required: ['query'] },
  },
];
