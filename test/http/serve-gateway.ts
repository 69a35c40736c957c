import { ServerTools, type ServerToolsOptions } from '../../src/adapters/inbound/mcp/server-tools.ts';
import { GatewayMethods } from '../../src/adapters/inbound/mcp/shared-methods.ts';
import type { Gateway } from '../../src/application/gateway/gateway.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Ask, begin, type Exchange, type Reply, send } from '../support/http-client.ts';
import { loadedServers, loadingServers } from '../support/loaded-servers.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { redactorOf } from '../support/redactor.ts';
import { type ScriptedGatewayOptions, startScripted } from '../support/scripted-gateway.ts';
import type { ScriptedToolServer } from '../support/scripted-tool-server.ts';
import { type ServedHttp, type ServeHttpOptions, serveHttp } from './serve-http.ts';

export type ServeGatewayOptions = Omit<ServeHttpOptions, 'clock' | 'logger' | 'servers'> &
  Pick<ScriptedGatewayOptions, 'definitions' | 'approved'> & {
    readonly clock?: FakeClock;
    /** Default: all tools are listed. */
    readonly expose?: ServerToolsOptions['expose'];
    readonly always?: readonly string[];
    /** When the gateway is loaded. Default: before the endpoint. */
    readonly whenLoaded?: Promise<void>;
  };

export interface ServedGateway extends ServedHttp {
  readonly gateway: Gateway;
  readonly clock: FakeClock;
  readonly logger: RecordingLogger;
  get(path: string, headers?: Ask['headers']): Promise<Reply>;
  /** `POST /mcp/call` */
  call(body: unknown, headers?: Ask['headers']): Promise<Reply>;
  beginCall(body: object, headers?: Ask['headers']): Exchange;
}

/** REST, and MCP with the servers' tools, on servers of the test. The time advances only when the test advances it. */
export async function serveGateway(
  servers: Readonly<Record<string, ScriptedToolServer>>,
  {
    definitions = {},
    approved,
    expose = true,
    always = [],
    audit,
    clock = new FakeClock(),
    whenLoaded,
    ...options
  }: ServeGatewayOptions = {},
): Promise<ServedGateway> {
  const logger = new RecordingLogger();
  const gateway = startScripted(servers, { clock, logger, definitions, approved });
  const started = async () => gateway;
  const redactor = redactorOf();
  const served = await serveHttp({
    ...options,
    http: {
      shared: new GatewayMethods({ gateway: started, isSession: false, clock, redactor }),
      servers: whenLoaded === undefined ? loadedServers(gateway) : loadingServers(gateway, whenLoaded),
      ...options.http,
    },
    audit,
    clock,
    logger,
    servers: (options) => new ServerTools({ ...options, gateway: started, expose, always, notifiesOfChanges: false }),
  });
  const beginCall: ServedGateway['beginCall'] = (body, headers = {}) =>
    begin(served.at('/mcp/call'), { body, headers });
  return {
    ...served,
    gateway,
    clock,
    logger,
    get: (path, headers = {}) => send(served.at(path), { method: 'GET', headers }),
    call: (body, headers) => beginCall(body as object, headers).reply,
    beginCall,
  };
}
