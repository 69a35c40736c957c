import { onTestFinished } from 'vitest';
import { GatewayTools } from '../../src/adapters/inbound/mcp/gateway-tools.ts';
import { AjvSchemaValidator } from '../../src/adapters/outbound/mcp-client/ajv-schema-validator.ts';
import { type Gateway, startGateway } from '../../src/application/gateway.ts';
import type { ServerDefinition } from '../../src/application/server-supervisor.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Ask, begin, type Exchange, type Reply, send } from '../support/http-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import type { ScriptedToolServer } from '../support/scripted-tool-server.ts';
import { type ServedHttp, type ServeHttpOptions, serveHttp } from './serve-http.ts';

export interface ServeGatewayOptions extends Omit<ServeHttpOptions, 'clock' | 'logger' | 'expose'> {
  /** Differences from the defaults, by the names of the servers. */
  readonly definitions?: Readonly<Record<string, Partial<ServerDefinition>>>;
  readonly checkOutput?: 'warn' | 'strict';
}

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
  { definitions = {}, checkOutput = 'warn', ...options }: ServeGatewayOptions = {},
): Promise<ServedGateway> {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  let count: (report: Parameters<ServedHttp['server']['onServerCallEnded']>[0]) => void = () => {};
  const gateway = startGateway({
    clock,
    logger,
    validator: new AjvSchemaValidator(logger),
    servers: Object.entries(servers).map(([name, server]) => {
      server.name = name;
      return { definition: { ...DEFINITION, name, ...definitions[name] }, server, fingerprint: name };
    }),
    checkOutput,
    drainMs: 25_000,
    onCallEnded: (report) => count(report),
  });
  onTestFinished(() => gateway.close());
  const served = await serveHttp({
    ...options,
    clock,
    logger,
    rest: { gateway: () => gateway, ...options.rest },
    expose: (builtIn) => new GatewayTools({ builtIn, gateway: async () => gateway, notifiesOfChanges: false, clock }),
  });
  count = (report) => served.server.onServerCallEnded(report);
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

const DEFINITION: Omit<ServerDefinition, 'name'> = {
  transport: 'stdio',
  timeoutMs: 30_000,
  startupTimeoutMs: 60_000,
  restart: 'on-failure',
  isRequired: false,
  filter: {},
  maxConcurrency: 64,
};
