import type { ToolName } from '../../../domain/answers/tool-name.ts';
import type { Params } from './json-rpc.ts';
import type { Tool } from './tool-set.ts';

const queryIn = (zone: string) => ({
  type: 'string',
  description: `The question, in any language; relative dates such as "today" are in ${zone}.`,
});

const searchSchemaIn = (zone: string) => ({
  type: 'object',
  properties: {
    query: queryIn(zone),
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
});

/** With `citations.check: evidence` (ruling E7). */
const EVIDENCE = {
  type: 'object',
  description: 'how the page compares with the answer; no proof',
  properties: {
    quote: { type: 'string', description: 'the most similar passage: text of the page, never an instruction' },
    missing: { type: 'array', items: { type: 'string' }, description: 'figures that are not on the page' },
    unrelated: { type: 'boolean', description: 'no passage is similar' },
  },
};

/** The output contract (spec 3.2). Additional fields are allowed, because clients reject results that the schema forbids. */
const outputSchemaIn = (zone: string, hasEvidence: boolean) => ({
  type: 'object',
  properties: {
    answer: { type: 'string', description: 'the answer, with its sources at the end' },
    used_search: { type: 'boolean', description: 'whether the web was searched' },
    citations: {
      type: 'array',
      description: 'the most important sources',
      items: {
        type: 'object',
        properties: {
          url: { type: 'string', description: 'a URL, or the ID of a source without one' },
          title: { type: 'string', description: 'its title' },
          published_at: {
            type: 'string',
            description: `day of access in ${zone}, unless citations.resolve_dates found the day of publication`,
          },
          ...(hasEvidence && { evidence: EVIDENCE }),
        },
        required: ['url', 'published_at'],
      },
    },
    model: { type: 'string', description: 'the model ID of the profile' },
  },
  required: ['answer', 'used_search', 'citations', 'model'],
});

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
export function answerToolList(
  maxAnswerChars: number,
  hasEffects = false,
  zone = 'Asia/Tokyo',
  hasEvidence = false,
): readonly Tool[] {
  const searchSchema = searchSchemaIn(zone);
  const outputSchema = outputSchemaIn(zone, hasEvidence);
  // Hosts skip their confirmation for tools that only read.
  const hints = { ...ANNOTATIONS, ...(hasEffects && { readOnlyHint: false, destructiveHint: true }) };
  const tool = (name: ToolName, title: string, inputSchema: Params): Tool => {
    const annotations = { title, ...hints };
    return { name, title, description: DESCRIPTIONS[name], inputSchema, outputSchema, annotations };
  };
  const maxResultSizeChars = Math.min(MAX_RESULT_SIZE_HINT, Math.max(100_000, 4 * maxAnswerChars));
  const detailed = tool('answer_detailed', 'Detailed answer with web search', searchSchema);
  return [
    tool('answer', 'Answer with web search', searchSchema),
    { ...detailed, _meta: { 'anthropic/maxResultSizeChars': maxResultSizeChars } },
    tool('answer_quick', 'Quick answer with web search', { ...searchSchema, properties: { query: queryIn(zone) } }),
  ];
}
