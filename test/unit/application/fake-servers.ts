import type { ConfiguredServer, ServerDefinition } from '../../../src/application/gateway/server-definition.ts';
import { FakeToolServer } from '../../support/fake-tool-server.ts';

export type FakeConfigured = ConfiguredServer & { readonly server: FakeToolServer };

/** A configured fake server; `fingerprint` is that of its configuration. */
export function configured(
  name: string,
  { fingerprint = '1', server = new FakeToolServer(), ...more }: FakeServerOptions = {},
): FakeConfigured {
  const definition: ServerDefinition = {
    name,
    transport: 'stdio',
    timeoutMs: 30_000,
    startupTimeoutMs: 60_000,
    restart: 'on-failure',
    start: 'at_once',
    idleMs: 0,
    isRequired: false,
    filter: {},
    maxConcurrency: 64,
    ...more,
  };
  return { definition, server, fingerprint };
}

type FakeServerOptions = Partial<ServerDefinition> & {
  readonly fingerprint?: string;
  readonly server?: FakeToolServer;
};
