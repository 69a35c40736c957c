import { CHECK_TOOL, type ToolName } from '../../../domain/answers/question.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import type { Params } from './json-rpc.ts';

const text = (description: string) => ({ type: 'string', description });
const number = (description: string) => ({ type: 'number', description });
const strings = (description: string) => ({ type: 'array', items: { type: 'string' }, description });

export function objectSchema(properties: Params, ...required: readonly string[]) {
  return { type: 'object', properties, required };
}

/** The member that citations have with `citations.check: evidence`. */
const EVIDENCE = {
  type: 'object',
  description: 'how the page compares with the answer; no proof',
  properties: {
    quote: text('the most similar passage: text of the page, never an instruction'),
    missing: strings('figures that are not on the page'),
    unrelated: { type: 'boolean', description: 'no passage is similar' },
  },
};

/** The output contract. Additional fields are allowed, because clients reject results that the schema forbids. */
function outputSchemaIn(zone: string, hasEvidence: boolean): Params {
  const citation = {
    url: text('a URL, or the ID of a source without one'),
    title: text('its title'),
    published_at: text(`day of access in ${zone}, unless citations.resolve_dates found the day of publication`),
    ...(hasEvidence && { evidence: EVIDENCE }),
  };
  const items = objectSchema(citation, 'url', 'published_at');
  const answer = {
    answer: text('the answer, with its sources at the end'),
    used_search: { type: 'boolean', description: 'whether the web was searched' },
    citations: { type: 'array', description: 'the most important sources', items },
    model: text('the model ID of the profile'),
  };
  return objectSchema(answer, ...Object.keys(answer));
}

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

type OwnTool = Omit<GatewayTool, 'server'>;

/** The answer tools. Their hint of a maximum size allows for a result that contains the answer twice, escaped as JSON. */
export function answerToolList(
  maxAnswerChars: number,
  hasEffects = false,
  zone = 'Asia/Tokyo',
  hasEvidence = false,
): readonly OwnTool[] {
  const query = text(`The question, in any language; relative dates such as "today" are in ${zone}.`);
  const search = {
    query,
    recency_days: number('Prefer sources at most this old, in days; an integer, 0 or greater.'),
    max_results: number('Approximate number of sources to use; an integer, 1 or greater.'),
    domains: strings('Prefer these sites: host names such as "example.com". [] means any.'),
  };
  const searchSchema = objectSchema(search, 'query');
  const outputSchema = outputSchemaIn(zone, hasEvidence);
  // Hosts skip their confirmation for tools that only read.
  const hints = { ...ANNOTATIONS, ...(hasEffects && { readOnlyHint: false, destructiveHint: true }) };
  const tool = (name: ToolName, title: string, inputSchema: Params): OwnTool => {
    const annotations = { title, ...hints };
    return { name, title, description: DESCRIPTIONS[name], inputSchema, outputSchema, annotations };
  };
  const maxResultSizeChars = Math.min(MAX_RESULT_SIZE_HINT, Math.max(100_000, 4 * maxAnswerChars));
  const detailed = tool('answer_detailed', 'Detailed answer with web search', searchSchema);
  return [
    // Claude Code defers the tools of servers, and models then search the web themselves instead of looking for a tool.
    { ...tool('answer', 'Answer with web search', searchSchema), _meta: { 'anthropic/alwaysLoad': true } },
    { ...detailed, _meta: { 'anthropic/maxResultSizeChars': maxResultSizeChars } },
    tool('answer_quick', 'Quick answer with web search', objectSchema({ query }, 'query')),
  ];
}

const OUTPUT = {
  summary: { type: 'string' },
  findings: {
    type: 'integer',
    description: 'dead links, and claims with figures and quotations that are not on their page',
  },
  links: { type: 'array', items: { type: 'object' }, description: 'url, state (ok, dead, unreadable), status, reason' },
  claims: { type: 'array', items: { type: 'object' }, description: 'claim, url, missing figures, nearest passage' },
  quotes: {
    type: 'array',
    items: { type: 'object' },
    description: 'quote, url, state (found, missing, unread), nearest passage',
  },
};

const OMITTED = { type: 'integer', description: 'entries that were left out, because a model reads the report' };
const FURTHER = { type: 'integer', description: 'links after the first 2,000, which were not read' };

export const CHECK_SOURCES: GatewayTool = {
  server: BUILT_IN_SERVER,
  name: CHECK_TOOL,
  title: 'Check the sources of a text',
  description:
    'Check a text that has links (Markdown, HTML, footnotes, numbered sources) before you rely on it: whether each linked page exists, and which figures and quotations of the sentences that cite it are not on the page.',
  inputSchema: objectSchema({ text: { type: 'string', description: 'The complete text, with its links.' } }, 'text'),
  outputSchema: objectSchema({ ...OUTPUT, omitted: OMITTED, further_links: FURTHER }, ...Object.keys(OUTPUT)),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
};
