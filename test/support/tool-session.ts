import { expect } from 'vitest';
import { GatewayTools } from '../../src/adapters/inbound/mcp/gateway-tools.ts';
import { SearchTools, type SearchToolsOptions } from '../../src/adapters/inbound/mcp/search-tools.ts';
import type { Gateway } from '../../src/application/gateway/gateway.ts';
import { ToolCatalogue } from '../../src/application/tools/tool-catalogue.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { FakeApplication, hangs } from './fake-application.ts';
import { FakeClock } from './fake-clock.ts';
import { BUILT_IN, clientOf, newSession, type SessionOptions } from './mcp-session.ts';
import { RecordingLogger } from './recording-logger.ts';
import { type ScriptedGatewayOptions, startScripted } from './scripted-gateway.ts';
import type { ScriptedToolServer } from './scripted-tool-server.ts';

interface Options extends Pick<SessionOptions, 'by' | 'observer'> {
  /** The tools are found, and not listed. */
  readonly search?: Pick<SearchToolsOptions, 'isAuto' | 'always'>;
  readonly notifiesOfChanges?: boolean;
  readonly gateway?: ScriptedGatewayOptions;
}

/** A client of a session with the tools of these servers. The gateway starts when the session needs it first. */
export function toolSession(servers: Readonly<Record<string, ScriptedToolServer>>, options: Options = {}) {
  const { search, notifiesOfChanges = true, ...ofSession } = options;
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  let gateway: Gateway | undefined;
  const ofTools = {
    builtIn: BUILT_IN,
    catalogue: new ToolCatalogue({ clock, providers: () => (gateway === undefined ? [] : [gateway]) }),
    gateway: async () => {
      gateway ??= startScripted(servers, { clock, logger, ...options.gateway });
      return gateway;
    },
    toolErrors: 'protocol' as const,
    notifiesOfChanges,
    clock,
    logger,
    redactor: createRedactor(),
  };
  const tools = search === undefined ? new GatewayTools(ofTools) : new SearchTools({ ...ofTools, ...search });
  const session = newSession({ application: new FakeApplication(hangs), clock, logger, tools, ...ofSession });
  return {
    clock,
    tools,
    session,
    ...clientOf(session),
    gateway: () => gateway ?? expect.fail('no server was started'),
  };
}
