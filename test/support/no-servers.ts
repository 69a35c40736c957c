import { BuiltInServer } from '../../src/adapters/inbound/http/rest/built-in-server.ts';
import type { HttpServerOptions } from '../../src/adapters/inbound/http/server/http-server.ts';
import type { ToolSet } from '../../src/adapters/inbound/mcp/tool-set.ts';
import { AjvSchemaValidator } from '../../src/adapters/outbound/mcp-client/ajv-schema-validator.ts';
import type { Audit } from '../../src/application/audit/audit.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** REST with the answer tools alone, and without the page. */
export function noServers(tools: ToolSet, clock: Clock, audit?: Audit): HttpServerOptions['rest'] {
  const validator = async () => new AjvSchemaValidator({ clock, logger: new RecordingLogger() });
  return {
    gateway: () => undefined,
    builtIn: new BuiltInServer({ tools, clock, validator, timeoutMs: 300_000, audit }),
    version: '0.0.0-test',
    pageFolder: undefined,
  };
}
