import { isSpecType } from '@modelcontextprotocol/client';
import * as v1 from '@modelcontextprotocol/sdk/types.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTool } from '../../../../src/domain/gateway/listed-tool.ts';
import {
  toServedCompletion,
  toServedContents,
  toServedPrompt,
  toServedResult,
} from '../../../../src/domain/gateway/served-result.ts';
import { exposedEntries, parseEntry, type SharedList } from '../../../../src/domain/gateway/shared-entries.ts';
import { parseToolResult } from '../../../../src/domain/gateway/tool-result.ts';
import { REVISIONS, schemaErrors } from '../../../support/mcp-schemas.ts';
import {
  oddCompletion,
  oddContents,
  oddPrompt,
  oddPromptResult,
  oddResource,
  oddResult,
  oddTool,
} from '../../../support/odd-entries.ts';

/** A value is as every revision says, and both official clients accept it. */
function expectServed(definition: 'Tool' | 'Prompt' | 'Resource' | 'ResourceTemplate', value: unknown): void {
  for (const revision of REVISIONS) expect(schemaErrors(revision, definition, value), revision).toEqual([]);
  expect(isSpecType[definition](value)).toBe(true);
  expect(V1[definition].safeParse(value).error).toBeUndefined();
}

const V1 = {
  Tool: v1.ToolSchema,
  Prompt: v1.PromptSchema,
  Resource: v1.ResourceSchema,
  ResourceTemplate: v1.ResourceTemplateSchema,
};

// S77
describe('whatever a server lists', () => {
  test('a tool that is read is as MCP specifies', () => {
    fc.assert(
      fc.property(oddTool, (listed) => {
        const tool = parseTool('s', listed);
        if (tool === undefined) return;
        const { server: _, ...served } = tool;
        expectServed('Tool', served);
      }),
    );
  });

  test.each<[SharedList, 'Prompt' | 'Resource' | 'ResourceTemplate', fc.Arbitrary<unknown>]>([
    ['prompts', 'Prompt', oddPrompt],
    ['resources', 'Resource', oddResource],
    ['resourceTemplates', 'ResourceTemplate', oddResource],
  ])('an entry of %s that is read is as MCP specifies', (list, definition, odd) => {
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 3 }), (listed) => {
        const entries = listed.flatMap((one) => parseEntry('s', list, one) ?? []);
        for (const served of exposedEntries(list, entries, ['s'])) expectServed(definition, served);
      }),
    );
  });
});

/** A result of the legacy era, and the same as that of the modern one. */
function expectResult(definition: keyof typeof V1_RESULTS, legacy: object, modern: object = legacy): void {
  for (const revision of REVISIONS.slice(0, 2)) expect(schemaErrors(revision, definition, legacy)).toEqual([]);
  const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...modern };
  expect(schemaErrors('2026-07-28', definition, complete)).toEqual([]);
  expect(isSpecType[definition](legacy)).toBe(true);
  expect(V1_RESULTS[definition].safeParse(legacy).error).toBeUndefined();
}

const V1_RESULTS = {
  CallToolResult: v1.CallToolResultSchema,
  GetPromptResult: v1.GetPromptResultSchema,
  ReadResourceResult: v1.ReadResourceResultSchema,
  CompleteResult: v1.CompleteResultSchema,
};

// S77
describe('whatever a server returns', () => {
  test('the result of a tool is as MCP specifies', () => {
    fc.assert(
      fc.property(oddResult, (returned) => {
        const result = parseToolResult(returned);
        if (result === undefined) return;
        const [legacy, modern] = [true, false].map((onlyObjects) => toServedResult(result.raw, { onlyObjects }));
        expectResult('CallToolResult', legacy ?? {}, modern);
      }),
    );
  });

  test('a prompt, the contents of a resource and a completion are as MCP specifies', () => {
    fc.assert(fc.property(oddPromptResult, (result) => expectResult('GetPromptResult', toServedPrompt(result))));
    fc.assert(
      fc.property(oddContents, (result) => expectResult('ReadResourceResult', toServedContents(result, 'a:1'))),
    );
    fc.assert(fc.property(oddCompletion, (result) => expectResult('CompleteResult', toServedCompletion(result))));
  });

  test.each([
    [
      { type: 'text', text: 'a', annotations: null, _meta: [] },
      { type: 'text', text: 'a' },
    ],
    [
      { type: 'text', text: { a: 1 } },
      { type: 'text', text: '{"a":1}' },
    ],
    [{ type: 'text' }, { type: 'text', text: '' }],
    [
      { type: 'image', data: 'data:image/png;base64,AAAA' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
    [
      { type: 'resource_link', uri: 'a:1' },
      { type: 'resource_link', uri: 'a:1', name: 'a:1' },
    ],
    [
      { type: 'resource', resource: { uri: 'a:1', text: { a: 1 } } },
      { type: 'resource', resource: { uri: 'a:1', text: '{"a":1}' } },
    ],
    [
      { type: 'video', url: 'https://a' },
      { type: 'text', text: '[video: not a block of MCP]\n{"type":"video","url":"https://a"}' },
    ],
    [
      { type: 'image', data: 'A'.repeat(4000) },
      {
        type: 'text',
        text: '[image: not a block of MCP]\n{"type":"image","data":"(4000 characters)"}',
      },
    ],
  ])('a block is repaired, or becomes a text: %j', (block, served) => {
    expect(toServedResult({ content: [block] }, { onlyObjects: true })).toEqual({ content: [served] });
  });

  test('what is right is the same object', () => {
    const result = { content: [{ type: 'text', text: 'a', other: [null] }], structuredContent: { a: null }, x: 1 };
    expect(toServedResult(result, { onlyObjects: true })).toBe(result);
  });

  test('structured content that is no object is a text before 2026-07-28, unless a text repeats it', () => {
    const structuredContent = [1, 2];
    const text = { type: 'text', text: '[1,2]' };
    const served = (content: readonly object[], onlyObjects: boolean) =>
      toServedResult({ content, structuredContent }, { onlyObjects });
    expect(served([], false)).toEqual({ content: [], structuredContent });
    expect(served([], true)).toEqual({ content: [text] });
    expect(served([text], true)).toEqual({ content: [text] });
    expect(served([{ type: 'text', text: 'two' }], true)).toEqual({ content: [{ type: 'text', text: 'two' }, text] });
  });

  test('a prompt has a message for each block', () => {
    const messages = ['hello', { role: 'system', content: ['a', { type: 'text', text: 'b' }] }, { role: 'assistant' }];
    expect(toServedPrompt({ messages }).messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'hello' } },
      { role: 'user', content: { type: 'text', text: 'a' } },
      { role: 'user', content: { type: 'text', text: 'b' } },
      { role: 'assistant', content: { type: 'text', text: '{"role":"assistant"}' } },
    ]);
  });

  test('a resource has the URI that was asked for, and a text in place of a value', () => {
    const contents = [{ text: { a: 1 } }, 'hello', { uri: 'b:1', blob: '&' }, { blob: 'AAAA', text: 1 }];
    expect(toServedContents({ contents }, 'a:1').contents).toEqual([
      { uri: 'a:1', text: '{"a":1}' },
      { uri: 'a:1', text: 'hello' },
      { uri: 'b:1', text: '&' },
      { uri: 'a:1', blob: 'AAAA' },
    ]);
  });
});
