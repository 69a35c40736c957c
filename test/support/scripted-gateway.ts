import { onTestFinished } from 'vitest';
import { AjvSchemaValidator } from '../../src/adapters/outbound/mcp-client/ajv-schema-validator.ts';
import { Gateway } from '../../src/application/gateway/gateway.ts';
import type { GatewayOptions } from '../../src/application/gateway/gateway-options.ts';
import type { ServerDefinition } from '../../src/application/gateway/server-definition.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import type { ScriptedToolServer } from './scripted-tool-server.ts';

export interface ScriptedGatewayOptions extends Partial<Omit<GatewayOptions, 'servers' | 'validator'>> {
  /** Differences from the defaults, by the names of the servers. */
  readonly definitions?: Readonly<Record<string, Partial<ServerDefinition>>>;
}

/** The gateway on servers of the test, by their names, for one test. */
export function startScripted(
  servers: Readonly<Record<string, ScriptedToolServer>>,
  { definitions = {}, ...options }: ScriptedGatewayOptions = {},
): Gateway {
  const { logger = new RecordingLogger() } = options;
  const validator = new AjvSchemaValidator(logger);
  const gateway = new Gateway({
    clock: new FakeClock(),
    logger,
    validator: async () => validator,
    servers: Object.entries(servers).map(([name, server]) => {
      server.name = name;
      return { definition: { ...DEFINITION, name, ...definitions[name] }, server, fingerprint: name };
    }),
    drainMs: 25_000,
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

const DEFINITION: Omit<ServerDefinition, 'name'> = {
  transport: 'stdio',
  timeoutMs: 30_000,
  startupTimeoutMs: 60_000,
  restart: 'on-failure',
  start: 'at_once',
  idleMs: 0,
  isRequired: false,
  filter: {},
  maxConcurrency: 64,
};
