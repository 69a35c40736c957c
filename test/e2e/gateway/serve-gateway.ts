import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../src/domain/values/json.ts';
import { begin, type Exchange, send } from '../../support/http-client.ts';
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts';
import { newProcessTree, type ProcessTree, STDIO_SERVER } from '../../support/process-tree.ts';
import { newFile } from '../files.ts';

export interface RestReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: JsonObject;
}

/** The built program as a gateway, for one test. */
export interface GatewayProcess extends HttpProcess {
  get(path: string): Promise<RestReply>;
  call(server: string, toolName: string, input?: JsonObject, timeout?: number): Promise<RestReply>;
  /** Resolves when so many calls are waiting in the server that can misbehave. */
  untilRunning(server: string, calls: number): Promise<void>;
  /** A call in flight. */
  beginCall(server: string, toolName: string, input?: JsonObject, timeout?: number): Exchange;
  restart(server: string): Promise<RestReply>;
  /** Replaces the configuration file. */
  configure(servers: readonly object[]): void;
  /** The status of a server, once it is in one of these states. */
  untilState(server: string, ...states: readonly string[]): Promise<ServerJson>;
  /** Resolves when this was logged. */
  untilLogged(text: string): Promise<void>;
}

interface ServerJson extends JsonObject {
  readonly state: string;
  readonly pid: number;
}

interface GatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The folder of the logins. */
  readonly logins?: string;
}

export async function startGatewayProcess(
  servers: readonly object[],
  { env = {}, headers = {}, logins }: GatewayOptions = {},
): Promise<GatewayProcess> {
  const text = (servers: readonly object[]) => JSON.stringify({ servers, ...(logins && { gateway: { logins } }) });
  const config = newFile('config.yaml', text(servers));
  const started = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--offline', '--config', config], env });
  const at = (path: string) => new URL(path, started.url).href;
  const beginCall: GatewayProcess['beginCall'] = (server, toolName, input = {}, timeout) =>
    begin(at('/mcp/call'), {
      body: { server, toolName, input, ...(timeout === undefined ? {} : { timeout }) },
      headers,
    });
  const call: GatewayProcess['call'] = async (...call) => toReply(await beginCall(...call).reply);
  const get: GatewayProcess['get'] = async (path) => toReply(await send(at(path), { method: 'GET', headers }));
  return {
    ...started,
    get,
    beginCall,
    call,
    untilRunning: async (server, calls) => {
      for (;;) {
        const { status, body } = await call(server, 'running');
        if (status !== 200) throw new Error(`The calls cannot be counted: ${JSON.stringify(body)}`);
        if ((body.result as JsonObject).calls === calls) return;
        await sleep(30);
      }
    },
    restart: async (server) => toReply(await send(at(`/mcp/servers/${server}/restart`), { body: {}, headers })),
    configure: (servers) => writeFileSync(config, text(servers)),
    untilState: async (name, ...states) => {
      for (;;) {
        const { body } = await get('/mcp/servers');
        const found = (body.servers as readonly ServerJson[]).find((server) => server.name === name);
        if (found !== undefined && states.includes(found.state)) return found;
        await sleep(50);
      }
    },
    untilLogged: async (text) => {
      while (!started.stderr().includes(text)) await sleep(20);
    },
  };
}

function toReply({ status, headers, text }: Awaited<Exchange['reply']>): RestReply {
  return { status, headers, body: JSON.parse(text) as JsonObject };
}

/** An entry of the configuration for the server that can misbehave, and its processes. */
export function stdioServer(
  name: string,
  behaviours: readonly string[] = [],
  more: object = {},
): { readonly entry: JsonObject & { readonly name: string }; readonly tree: ProcessTree } {
  const tree = newProcessTree();
  const args = [STDIO_SERVER, tree.tag, 'lists-all', ...behaviours];
  return { entry: { name, command: process.execPath, args, ...more }, tree };
}
