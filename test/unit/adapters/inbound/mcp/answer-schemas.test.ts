import { describe, expect, test } from 'vitest';
import { answerToolList } from '../../../../../src/adapters/inbound/mcp/answer-schemas.ts';
import type { Tool } from '../../../../../src/adapters/inbound/mcp/tool-set.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';

/** Without the descriptions of the arguments, which the contract does not define. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key, inner]) => key !== 'description' || typeof inner !== 'string');
  return Object.fromEntries(entries.map(([key, inner]) => [key, bare(inner)]));
}

const TOOLS = answerToolList(20_000);

// S30
describe('names, descriptions and schemas are those of the contract', () => {
  const searchSchema = {
    type: 'object',
    properties: {
      query: { type: 'string' },
      recency_days: { type: 'number' },
      max_results: { type: 'number' },
      domains: { type: 'array', items: { type: 'string' } },
    },
    required: ['query'],
  };

  test('of all three tools, in order', () => {
    const shown = TOOLS.map(({ name, description, inputSchema }) => ({ name, description, schema: bare(inputSchema) }));
    expect(shown).toEqual([
      {
        name: 'answer',
        description:
          'Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.',
        schema: searchSchema,
      },
      {
        name: 'answer_detailed',
        description:
          'Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation.',
        schema: searchSchema,
      },
      {
        name: 'answer_quick',
        description: 'Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions.',
        schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      },
    ]);
  });
});

test('everything that a client sees of the first tool', () => {
  expect(TOOLS[0]).toMatchInlineSnapshot(`
    {
      "_meta": {
        "anthropic/alwaysLoad": true,
      },
      "annotations": {
        "destructiveHint": false,
        "idempotentHint": false,
        "openWorldHint": true,
        "readOnlyHint": true,
        "title": "Answer with web search",
      },
      "description": "Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool.",
      "inputSchema": {
        "properties": {
          "domains": {
            "description": "Prefer these sites: host names such as "example.com". [] means any.",
            "items": {
              "type": "string",
            },
            "type": "array",
          },
          "max_results": {
            "description": "Approximate number of sources to use; an integer, 1 or greater.",
            "type": "number",
          },
          "query": {
            "description": "The question, in any language; relative dates such as "today" are in Asia/Tokyo.",
            "type": "string",
          },
          "recency_days": {
            "description": "Prefer sources at most this old, in days; an integer, 0 or greater.",
            "type": "number",
          },
        },
        "required": [
          "query",
        ],
        "type": "object",
      },
      "name": "answer",
      "outputSchema": {
        "properties": {
          "answer": {
            "description": "the answer, with its sources at the end",
            "type": "string",
          },
          "citations": {
            "description": "the most important sources",
            "items": {
              "properties": {
                "published_at": {
                  "description": "day of access in Asia/Tokyo, unless citations.resolve_dates found the day of publication",
                  "type": "string",
                },
                "title": {
                  "description": "its title",
                  "type": "string",
                },
                "url": {
                  "description": "a URL, or the ID of a source without one",
                  "type": "string",
                },
              },
              "required": [
                "url",
                "published_at",
              ],
              "type": "object",
            },
            "type": "array",
          },
          "model": {
            "description": "the model ID of the profile",
            "type": "string",
          },
          "used_search": {
            "description": "whether the web was searched",
            "type": "boolean",
          },
        },
        "required": [
          "answer",
          "used_search",
          "citations",
          "model",
        ],
        "type": "object",
      },
      "title": "Answer with web search",
    }
  `);
});

test('none of the tools is read-only if an answer may have effects', () => {
  const hintsOf = (hasEffects: boolean) =>
    answerToolList(20_000, hasEffects).map(({ name, annotations }: Tool) => {
      const { title: _, ...hints } = annotations as JsonObject;
      return [name, hints];
    });
  const effects = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
  const none = { ...effects, readOnlyHint: true, destructiveHint: false };
  expect(hintsOf(true)).toEqual([
    ['answer', effects],
    ['answer_detailed', effects],
    ['answer_quick', effects],
  ]);
  expect(hintsOf(false)).toEqual([
    ['answer', none],
    ['answer_detailed', none],
    ['answer_quick', none],
  ]);
  const bareOf = (hasEffects: boolean) =>
    answerToolList(20_000, hasEffects).map(({ annotations: _, ...tool }: Tool) => tool);
  expect(bareOf(true)).toEqual(bareOf(false));
});
