import { onTestFinished, vi } from 'vitest';
import { AjvSchemaValidator } from '../../src/adapters/outbound/mcp-client/ajv-schema-validator.ts';
import { Gateway } from '../../src/application/gateway/gateway.ts';
import type {
  ConfiguredServer,
  GatewayOptions,
  ServerDefinition,
} from '../../src/application/gateway/server-definition.ts';
import type { SupervisorOptions } from '../../src/application/gateway/server-description.ts';
import { ServerSupervisor } from '../../src/application/gateway/server-supervisor.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeToolServer } from './fake-tool-server.ts';
import { RecordingLogger } from './recording-logger.ts';
import type { ScriptedToolServer } from './scripted-tool-server.ts';

export type FakeConfigured = ConfiguredServer & { readonly server: FakeToolServer };

interface ConfiguredOptions extends Partial<ServerDefinition> {
  /** That of the configuration of the server. */
  readonly fingerprint?: string;
  readonly server?: FakeToolServer;
}

/** A configured fake server. */
export function configured(
  name: string,
  { fingerprint = '1', server = new FakeToolServer(), ...more }: ConfiguredOptions = {},
): FakeConfigured {
  const definition: ServerDefinition = {
    name,
    transport: 'stdio',
    timeoutMs: 30_000,
    startupTimeoutMs: 60_000,
    questionTimeoutMs: 600_000,
    restart: 'on-failure',
    start: 'at_once',
    idleMs: 0,
    isRequired: false,
    filter: {},
    isPublic: false,
    maxConcurrency: 64,
    ...more,
  };
  return { definition, server, fingerprint };
}

/** The supervisor of a fake server, which has not been started. */
export function supervise(
  { name = 'fake', ...more }: ConfiguredOptions = {},
  options: Partial<Omit<SupervisorOptions, 'server'>> = {},
) {
  const [clock, logger, onToolsChanged] = [new FakeClock(), new RecordingLogger(), vi.fn()];
  const fake = configured(name, more);
  const supervisor = new ServerSupervisor({ ...fake, clock, logger, onToolsChanged, ...options });
  const state = () => supervisor.status.state;
  return { clock, logger, server: fake.server, supervisor, state, onToolsChanged };
}

/** The gateway on configured servers, for one test. */
export function gatewayOf(
  servers: readonly ConfiguredServer[],
  options: Partial<Omit<GatewayOptions, 'servers' | 'validator'>> = {},
): Gateway {
  const { logger = new RecordingLogger() } = options;
  const validator = new AjvSchemaValidator(logger);
  const gateway = new Gateway({
    clock: new FakeClock(),
    logger,
    validator: async () => validator,
    servers,
    drainMs: 25_000,
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

export interface ScriptedGatewayOptions extends Partial<Omit<GatewayOptions, 'servers' | 'validator'>> {
  /** Differences from the defaults, by the names of the servers. */
  readonly definitions?: Readonly<Record<string, Partial<ServerDefinition>>>;
}

/** The gateway on servers of the test, by their names. */
export function startScripted(
  servers: Readonly<Record<string, ScriptedToolServer>>,
  { definitions = {}, ...options }: ScriptedGatewayOptions = {},
): Gateway {
  const all = Object.entries(servers).map(([name, server]) => {
    server.name = name;
    return configured(name, { server, fingerprint: name, ...definitions[name] });
  });
  return gatewayOf(all, options);
}
