import { setTimeout as sleep } from 'node:timers/promises';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/domain/values/json.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { newFile, newFolder } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';

/** What a client was asked, and does then. */
export interface Person {
  readonly asked: JsonObject[];
  readonly answer: (params: JsonObject, signal?: AbortSignal) => JsonObject | Promise<JsonObject>;
}

export function person(answer: Person['answer'] = () => ({ action: 'accept', content: { sure: true } })): Person {
  return { asked: [], answer };
}

const INFO = { name: 'e2e', version: '1.0.0' };
export const BOTH = { elicitation: { form: {}, url: {} } };

const stdio = (servers: readonly object[], more: object = {}) => ({
  command: process.execPath,
  args: [
    BUILT_PROGRAM,
    '--stdio',
    '--offline',
    '--config',
    newFile('config.yaml', JSON.stringify({ servers, gateway: { expose: true }, ...more })),
  ],
  env: { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: newFolder() },
  stderr: 'pipe' as const,
});

/** The earlier official client. */
export async function earlierClient(transport: TransportV1, { asked, answer }: Person, capabilities: object = BOTH) {
  const client = new ClientV1(INFO, { capabilities });
  if ('elicitation' in capabilities)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      asked.push(params as JsonObject);
      return (await answer(params as JsonObject, signal)) as never;
    });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

export const earlierOverStdio = (servers: readonly object[], by: Person, capabilities?: object, more?: object) =>
  earlierClient(new StdioTransportV1(stdio(servers, more)) as unknown as TransportV1, by, capabilities);

export const earlierOverHttp = (url: string, by: Person, capabilities?: object) =>
  earlierClient(new HttpTransportV1(new URL(url)) as unknown as TransportV1, by, capabilities);

/** The official client of MCP 2026-07-28. */
async function modernClient(transport: v2.Transport, { asked, answer }: Person, capabilities: object = BOTH) {
  const mode = { pin: '2026-07-28' } as const;
  const client = new v2.Client(INFO, { capabilities, versionNegotiation: { mode } });
  if ('elicitation' in capabilities)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params as unknown as JsonObject);
      return (await answer(params as unknown as JsonObject)) as never;
    });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

export const modernOverStdio = (servers: readonly object[], by: Person, capabilities?: object, more?: object) =>
  modernClient(new StdioTransportV2(stdio(servers, more)), by, capabilities);

export const modernOverHttp = (url: string, by: Person, capabilities?: object, token?: string) => {
  const requestInit = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
  return modernClient(new v2.StreamableHTTPClientTransport(new URL(url), { requestInit }), by, capabilities);
};

/** The first text of a result. */
export function textIn(result: unknown): string {
  const { content } = result as { readonly content: readonly { readonly text: string }[] };
  return content[0]?.text ?? '';
}

/** Resolves when this is so. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(30);
}
