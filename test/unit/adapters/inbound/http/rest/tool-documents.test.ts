import { describe, expect, test } from 'vitest';
import { ToolDocuments } from '../../../../../../src/adapters/inbound/http/rest/tool-documents.ts';
import type { GatewayTool } from '../../../../../../src/domain/gateway/gateway-tool.ts';
import type { ServerState } from '../../../../../../src/domain/gateway/tool-call-error.ts';

const toolOf = (name: string, server = 'files'): GatewayTool => ({
  server,
  name,
  description: `Reads ${name}.`,
  inputSchema: { type: 'object' },
});

/** The documents of two servers. Each text that is made is redacted once, so that `made` counts the texts. */
function start() {
  const known = {
    tools: [toolOf('a'), toolOf('b', 'web')] as readonly GatewayTool[],
    states: ['available', 'available'] as ServerState[],
    timeoutMs: 1000,
  };
  let made = 0;
  const documents = new ToolDocuments({
    gateway: () => ({
      // New lists of the same tools, as the gateway returns them.
      tools: [...known.tools],
      servers: ['files', 'web'].map((name, index) => {
        const state = known.states[index] ?? 'failed';
        return { name, state, since: new Date(0), tools: 1, restarts: 0, transport: 'stdio' as const };
      }),
      timeoutOf: () => known.timeoutMs,
    }),
    builtIn: { tools: [], timeoutMs: 0 },
    version: '1.2.3',
    requiresToken: false,
    redactor: {
      anywhere: (text) => {
        made += text.length > 100 ? 1 : 0;
        return text.replaceAll('secret', '***');
      },
    },
  });
  const list = (only: string | null = null) => JSON.parse(documents.list(only).json.toString()) as object;
  const describe = (url: string) => JSON.parse(documents.describe(url).toString()) as object;
  return { documents, known, list, describe, made: () => made };
}

describe('as long as nothing has changed', () => {
  test('a list is made once, and so is its ETag', () => {
    const { documents, list, made } = start();
    const first = documents.list(null);
    expect(documents.list(null)).toBe(first);
    expect(list()).toEqual({
      success: true,
      tools: [
        { ...toolOf('a'), timeout: 1000 },
        { ...toolOf('b', 'web'), timeout: 1000 },
      ],
      servers: [
        { name: 'files', state: 'available' },
        { name: 'web', state: 'available' },
      ],
    });
    expect(made()).toBe(1);
  });

  test('the list of one server is a document of its own', () => {
    const { documents, list, made } = start();
    for (let times = 0; times < 3; times += 1) {
      expect(list('web')).toMatchObject({ tools: [{ name: 'b' }], servers: [{ name: 'web' }] });
      expect(list('files')).toMatchObject({ tools: [{ name: 'a' }], servers: [{ name: 'files' }] });
    }
    expect(documents.list('web').etag).not.toBe(documents.list('files').etag);
    expect(made()).toBe(2);
  });

  test('the OpenAPI document is made once for all addresses', () => {
    const { describe, made } = start();
    for (const port of [1, 2, 3]) {
      expect(describe(`http://localhost:${port}`)).toMatchObject({
        openapi: '3.1.0',
        servers: [{ url: `http://localhost:${port}` }],
        paths: { '/mcp/tools/files/a': {}, '/mcp/tools/web/b': {} },
      });
    }
    expect(made()).toBe(1);
  });
});

test('a list is made again after a change of a tool, of a state or of a time limit', () => {
  const { documents, known, list } = start();
  const etags = [documents.list(null).etag];
  const changed = (change: () => void) => {
    change();
    etags.push(documents.list(null).etag);
  };
  changed(() => {
    known.tools = [toolOf('c'), toolOf('b', 'web')];
  });
  changed(() => {
    known.states[0] = 'failed';
  });
  changed(() => {
    known.timeoutMs = 2000;
  });
  changed(() => {
    known.tools = [toolOf('c')];
  });
  expect(new Set(etags).size).toBe(5);
  expect(list()).toMatchObject({ tools: [{ name: 'c', timeout: 2000 }], servers: [{ state: 'failed' }, {}] });
});

test('the OpenAPI document is made again after a change of a tool', () => {
  const { known, describe } = start();
  describe('http://localhost');
  known.tools = [toolOf('c')];
  expect(describe('http://localhost')).toHaveProperty(['paths', '/mcp/tools/files/c']);
});

test('known keys are masked, in the address too', () => {
  const { known, list, describe } = start();
  known.tools = [{ ...toolOf('a'), description: 'It is secret.' }];
  expect(list()).toMatchObject({ tools: [{ description: 'It is ***.' }] });
  expect(describe('http://secret.example')).toMatchObject({ servers: [{ url: 'http://***.example' }] });
});
