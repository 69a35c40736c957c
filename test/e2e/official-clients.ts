import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';
import type { FakeApi } from '../support/fake-api.ts';
import { HOME_VARIABLE } from '../support/platform.ts';
import { newFolder } from './files.ts';
import { apiEnv, BUILT_PROGRAM } from './serve.ts';

export interface ClientProgress {
  readonly progress: number;
  readonly message?: string | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly onprogress?: (progress: ClientProgress) => void;
}

/** What the tests need of an official client of either version. */
interface OfficialClient {
  listTools(): Promise<{ tools: readonly ListedTool[] }>;
  callTool(name: string, query: string, options?: CallOptions): Promise<Record<string, unknown>>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
  getServerVersion(): { name: string; version: string } | undefined;
  getInstructions(): string | undefined;
}

interface ListedTool {
  readonly name: string;
  readonly annotations?: object | undefined;
  readonly outputSchema?: object | undefined;
}

interface Connected {
  readonly client: OfficialClient;
  /** Errors that the client reported: junk on stdout, messages that it did not expect. */
  readonly complaints: unknown[];
  /** The server's process. */
  readonly pid: number;
}

export const OFFICIAL_CLIENTS = [
  ['v1', connectV1],
  ['v2', connectV2('legacy')],
  ['v2 in mode auto', connectV2('auto')],
] as const;

const CLIENT_INFO = { name: 'e2e', version: '1.0.0' };

async function connectV1(api: FakeApi, ...args: readonly string[]): Promise<Connected> {
  const client = new ClientV1(CLIENT_INFO);
  const transport = new StdioTransportV1(serverParameters(api, args));
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client: {
      listTools: () => client.listTools(),
      callTool: (name, query, options) => client.callTool({ name, arguments: { query } }, undefined, options),
      ping: () => client.ping(),
      close: () => client.close(),
      getServerVersion: () => client.getServerVersion(),
      getInstructions: () => client.getInstructions(),
    },
    complaints,
    pid: transport.pid ?? 0,
  };
}

function connectV2(mode: 'legacy' | 'auto'): typeof connectV1 {
  return async (api, ...args) => {
    const client = new v2.Client(CLIENT_INFO, { versionNegotiation: { mode } });
    const transport = new StdioTransportV2(serverParameters(api, args));
    const complaints: unknown[] = [];
    client.onerror = (error) => void complaints.push(error);
    await client.connect(transport);
    onTestFinished(() => client.close());
    return {
      client: {
        listTools: () => client.listTools(),
        callTool: (name, query, options) => client.callTool({ name, arguments: { query } }, options),
        ping: () => client.ping(),
        close: () => client.close(),
        getServerVersion: () => client.getServerVersion(),
        getInstructions: () => client.getInstructions(),
      },
      complaints,
      pid: transport.pid ?? 0,
    };
  };
}

function serverParameters(api: FakeApi, args: readonly string[]) {
  return {
    command: process.execPath,
    args: [BUILT_PROGRAM, '--stdio', ...args],
    env: { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: newFolder(), ...apiEnv(api) },
    stderr: 'pipe' as const,
  };
}
