import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../src/domain/values/json.ts';
import { begin, type Exchange, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { newProcessTree, type ProcessTree, STDIO_SERVER } from '../../support/process-tree.ts';
import { until } from '../../support/until.ts';
import { newFile } from '../files.ts';

interface ServerJson extends JsonObject {
  readonly state: string;
  readonly pid: number;
}

interface GatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The folder of the logins. */
  readonly logins?: string;
  /** Other keys of the configuration. */
  readonly yaml?: object;
}

/** The built program as a gateway, for one test. */
export async function startGatewayProcess(
  servers: readonly object[],
  { env = {}, headers = {}, logins, yaml = {} }: GatewayOptions = {},
) {
  const text = (servers: readonly object[]) =>
    JSON.stringify({ servers, ...(logins && { gateway: { logins } }), ...yaml });
  const config = newFile('config.yaml', text(servers));
  const started = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--offline', '--config', config], env });
  const at = (path: string) => new URL(path, started.url).href;
  const get = async (path: string) => toReply(await send(at(path), { method: 'GET', headers }));
  /** A call in flight. */
  const beginCall = (server: string, toolName: string, input: JsonObject = {}, timeout?: number) =>
    begin(at('/mcp/call'), {
      body: { server, toolName, input, ...(timeout === undefined ? {} : { timeout }) },
      headers,
    });
  const call = async (...call: Parameters<typeof beginCall>) => toReply(await beginCall(...call).reply);
  return {
    ...started,
    get,
    beginCall,
    call,
    /** Resolves when so many calls are waiting in the server that can misbehave. */
    untilRunning: async (server: string, calls: number) => {
      for (;;) {
        const { status, body } = await call(server, 'running');
        if (status !== 200) throw new Error(`The calls cannot be counted: ${JSON.stringify(body)}`);
        if ((body.result as JsonObject).calls === calls) return;
        await sleep(30);
      }
    },
    /** Replaces the configuration file. */
    configure: (servers: readonly object[]) => writeFileSync(config, text(servers)),
    /** The status of a server, once it is in one of these states. */
    untilState: async (name: string, ...states: readonly string[]) => {
      for (;;) {
        const { body } = await get('/mcp/servers');
        const found = (body.servers as readonly ServerJson[]).find((server) => server.name === name);
        if (found !== undefined && states.includes(found.state)) return found;
        await sleep(50);
      }
    },
    /** Resolves when this was logged. */
    untilLogged: (text: string) => until(() => started.stderr().includes(text)),
  };
}

function toReply({ status, headers, text }: Awaited<Exchange['reply']>) {
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
