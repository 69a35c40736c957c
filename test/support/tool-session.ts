import { expect } from 'vitest';
import { ExposedTools } from '../../src/adapters/inbound/mcp/exposed-tools.ts';
import { ServerTools, type ServerToolsOptions } from '../../src/adapters/inbound/mcp/server-tools.ts';
import type { Gateway } from '../../src/application/gateway/gateway.ts';
import { ToolCatalogue } from '../../src/application/tools/tool-catalogue.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { answersOf } from './catalogue.ts';
import { FakeApplication, hangs } from './fake-application.ts';
import { FakeClock } from './fake-clock.ts';
import { clientOf, newSession, type SessionOptions } from './mcp-session.ts';
import { RecordingLogger } from './recording-logger.ts';
import { type ScriptedGatewayOptions, startScripted } from './scripted-gateway.ts';
import type { ScriptedToolServer } from './scripted-tool-server.ts';

interface Options extends Pick<SessionOptions, 'by' | 'on'> {
  /** Default: all tools are listed. */
  readonly expose?: ServerToolsOptions['expose'];
  readonly always?: readonly string[];
  readonly notifiesOfChanges?: boolean;
  readonly gateway?: ScriptedGatewayOptions;
}

/** A client of a session with the tools of these servers. The gateway starts when the session needs it first. */
export function toolSession(servers: Readonly<Record<string, ScriptedToolServer>>, options: Options = {}) {
  const { expose = true, always = [], notifiesOfChanges = true, ...ofSession } = options;
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const answers = answersOf(new FakeApplication());
  let gateway: Gateway | undefined;
  const ofTools = {
    catalogue: new ToolCatalogue({ clock, providers: () => (gateway === undefined ? [answers] : [answers, gateway]) }),
    gateway: async () => {
      gateway ??= startScripted(servers, { clock, logger, ...options.gateway });
      return gateway;
    },
    toolErrors: 'protocol' as const,
    expose,
    always,
    notifiesOfChanges,
    clock,
    logger,
    redactor: createRedactor(),
  };
  const tools = new ExposedTools({ ...ofTools, servers: new ServerTools(ofTools) });
  const session = newSession({ application: new FakeApplication(hangs), clock, logger, tools, ...ofSession });
  return {
    clock,
    tools,
    session,
    ...clientOf(session),
    gateway: () => gateway ?? expect.fail('no server was started'),
  };
}
