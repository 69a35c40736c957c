import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';
import { startHttpProcess } from '../support/http-process.ts';
import { HOME_VARIABLE } from '../support/platform.ts';
import { newFolder } from './files.ts';
import { BUILT_PROGRAM } from './serve.ts';

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string | undefined }) => void;
}

/** What both official clients can do. */
type Methods = Pick<
  v2.Client,
  | 'close'
  | 'complete'
  | 'getInstructions'
  | 'getPrompt'
  | 'getServerVersion'
  | 'listPrompts'
  | 'listResources'
  | 'listResourceTemplates'
  | 'listTools'
  | 'readResource'
>;

export interface Connected {
  readonly client: Methods;
  readonly call: (name: string, args?: object, options?: CallOptions) => Promise<Record<string, unknown>>;
  /** Errors that the client reported: junk on stdout, messages that it did not expect. */
  readonly complaints: readonly unknown[];
  /** The process that the client started, over stdio. */
  readonly pid?: number | null;
}

/** How to start the program: what follows `--stdio` or `--http`, and the environment. */
export interface Start {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const CLIENT_INFO = { name: 'e2e', version: '1.0.0' };

const parameters = ({ args = [], env = {} }: Start) => ({
  command: process.execPath,
  args: [BUILT_PROGRAM, '--stdio', ...args],
  env: { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: newFolder(), ...env },
  stderr: 'pipe' as const,
});
const serveHttp = async ({ args = [], env = {} }: Start) =>
  new URL((await startHttpProcess({ args: ['--http=127.0.0.1:0', ...args], env })).url);

export async function connectV1(transport: TransportV1): Promise<Connected> {
  const client = new ClientV1(CLIENT_INFO);
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client: client as unknown as Methods,
    call: (name, args = {}, options) => client.callTool({ name, arguments: { ...args } }, undefined, { ...options }),
    complaints,
  };
}

export async function connectV2(transport: v2.Transport, mode: v2.VersionNegotiationMode): Promise<Connected> {
  const client = new v2.Client(CLIENT_INFO, { versionNegotiation: { mode } });
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    call: (name, args = {}, options) => client.callTool({ name, arguments: { ...args } }, { ...options }),
    complaints,
  };
}

// The package's types do not fit each other under exactOptionalPropertyTypes.
export const httpV1 = (url: URL) => connectV1(new HttpTransportV1(url) as unknown as TransportV1);
export const httpV2 = (mode: v2.VersionNegotiationMode) => (url: URL) =>
  connectV2(new v2.StreamableHTTPClientTransport(url), mode);

async function stdioV1(start: Start): Promise<Connected> {
  const transport = new StdioTransportV1(parameters(start));
  return { ...(await connectV1(transport)), pid: transport.pid };
}

const stdioV2 =
  (mode: v2.VersionNegotiationMode) =>
  async (start: Start): Promise<Connected> => {
    const transport = new StdioTransportV2(parameters(start));
    return { ...(await connectV2(transport, mode)), pid: transport.pid };
  };

/** Clients of the older era only post a notification, which cannot cancel anything over HTTP. */
export const OFFICIAL_CLIENTS: readonly {
  readonly name: string;
  readonly connect: (start: Start) => Promise<Connected>;
  readonly cancels: boolean;
  readonly unknownResource: number;
}[] = [
  { name: 'v1 over stdio', connect: stdioV1, cancels: true, unknownResource: -32002 },
  { name: 'v2 over stdio', connect: stdioV2('legacy'), cancels: true, unknownResource: -32002 },
  { name: 'v2 over stdio, mode auto', connect: stdioV2('auto'), cancels: true, unknownResource: -32602 },
  {
    name: 'v1 over HTTP',
    connect: async (start) => httpV1(await serveHttp(start)),
    cancels: false,
    unknownResource: -32002,
  },
  {
    name: 'v2 over HTTP',
    connect: async (start) => httpV2('legacy')(await serveHttp(start)),
    cancels: false,
    unknownResource: -32002,
  },
  {
    name: 'v2 over HTTP, mode auto',
    connect: async (start) => httpV2('auto')(await serveHttp(start)),
    cancels: true,
    unknownResource: -32602,
  },
];
