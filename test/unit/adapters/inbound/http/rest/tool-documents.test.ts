import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ToolDocuments } from '../../../../../../src/adapters/inbound/http/rest/tool-documents.ts';
import { EVERYTHING } from '../../../../../../src/domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../../../../../src/domain/gateway/gateway-tool.ts';
import type { ServerState } from '../../../../../../src/domain/gateway/tool-call-error.ts';

const toolOf = (name: string, server = 'files'): GatewayTool => ({
  server,
  name,
  description: `Reads ${name}.`,
  inputSchema: { type: 'object' },
});

/** The documents of two servers. Each text that is made is redacted, so that `made` counts the texts. */
function start() {
  const known = {
    tools: [toolOf('a'), toolOf('b', 'web')] as readonly GatewayTool[],
    states: ['available', 'available'] as ServerState[],
    timeoutMs: 1000,
  };
  let made = 0;
  const documents = new ToolDocuments({
    gateway: () => ({
      as: () => ({
        // New lists of the same tools, as the gateway returns them.
        tools: [...known.tools],
        servers: ['files', 'web'].map((name, index) => {
          const state = known.states[index] ?? 'failed';
          return { name, state, since: new Date(0), tools: 1, restarts: 0, transport: 'stdio' as const };
        }),
        changed: [],
        timeoutOf: () => known.timeoutMs,
        whenStarted: async () => {},
      }),
    }),
    builtIn: { toolsFor: () => [], timeoutMs: 0 },
    rights: EVERYTHING,
    version: '1.2.3',
    requiresToken: false,
    // Each text takes a millisecond.
    clock: { elapsedMs: () => made },
    redactor: {
      anywhere: (text) => {
        made += 1;
        return text.replaceAll('secret', '***');
      },
    },
  });
  const list = async (only: string | null = null) => JSON.parse((await documents.list(only)).json.toString()) as object;
  const describe = async (url: string) => JSON.parse((await documents.describe(url)).toString()) as object;
  return { documents, known, list, describe, made: () => made };
}

describe('as long as nothing has changed', () => {
  test('a list is made once, and so is its ETag', async () => {
    const { documents, list } = start();
    const first = await documents.list(null);
    expect(await documents.list(null)).toBe(first);
    expect(await list()).toEqual({
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
  });

  test('the list of one server is a document of its own', async () => {
    const { documents, list, made } = start();
    await list('web');
    await list('files');
    const before = made();
    for (let times = 0; times < 3; times += 1) {
      expect(await list('web')).toMatchObject({ tools: [{ name: 'b' }], servers: [{ name: 'web' }] });
      expect(await list('files')).toMatchObject({ tools: [{ name: 'a' }], servers: [{ name: 'files' }] });
    }
    expect((await documents.list('web')).etag).not.toBe((await documents.list('files')).etag);
    expect(made()).toBe(before);
  });

  test('the OpenAPI document is made once for all addresses', async () => {
    const { describe, made } = start();
    await describe('http://localhost');
    const before = made();
    for (const port of [1, 2, 3]) {
      expect(await describe(`http://localhost:${port}`)).toMatchObject({
        openapi: '3.1.0',
        servers: [{ url: `http://localhost:${port}` }],
        paths: { '/mcp/tools/files/a': {}, '/mcp/tools/web/b': {} },
      });
    }
    expect(made()).toBe(before + 3);
  });
});

test('a list is made again after a change of a tool, of a state or of a time limit', async () => {
  const { documents, known, list } = start();
  const etags = [(await documents.list(null)).etag];
  const changed = async (change: () => void) => {
    change();
    etags.push((await documents.list(null)).etag);
  };
  await changed(() => {
    known.tools = [toolOf('c'), toolOf('b', 'web')];
  });
  await changed(() => {
    known.states[0] = 'failed';
  });
  await changed(() => {
    known.timeoutMs = 2000;
  });
  await changed(() => {
    known.tools = [toolOf('c')];
  });
  expect(new Set(etags).size).toBe(5);
  expect(await list()).toMatchObject({ tools: [{ name: 'c', timeout: 2000 }], servers: [{ state: 'failed' }, {}] });
});

test('the OpenAPI document is made again after a change of a tool', async () => {
  const { known, describe } = start();
  await describe('http://localhost');
  known.tools = [toolOf('c')];
  expect(await describe('http://localhost')).toHaveProperty(['paths', '/mcp/tools/files/c']);
});

test('known keys are masked, in the address too', async () => {
  const { known, list, describe } = start();
  known.tools = [{ ...toolOf('a'), description: 'It is secret.' }];
  expect(await list()).toMatchObject({ tools: [{ description: 'It is ***.' }] });
  expect(await describe('http://secret.example')).toMatchObject({ servers: [{ url: 'http://***.example' }] });
});

test.each(['list', 'describe'] as const)('while %s has many tools, other work is done', async (method) => {
  const { documents, known } = start();
  known.tools = Array.from({ length: 100 }, (_, index) => toolOf(`tool${index}`));
  let isMade = false;
  const making = (method === 'list' ? documents.list(null) : documents.describe('http://localhost')).then(() => {
    isMade = true;
  });
  let turns = 0;
  for (; !isMade; turns += 1) await nextTurn();
  await making;
  expect(turns).toBeGreaterThan(5);
});
