import type { RestOptions } from '../../src/adapters/inbound/http/http-context.ts';
import type { ToolSet } from '../../src/adapters/inbound/mcp/tool-set.ts';
import { BuiltInServer } from '../../src/adapters/inbound/rest/built-in-server.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import { FakeSchemaValidator } from './fake-schema-validator.ts';

/** REST with the answer tools alone, and without the page. */
export function noServers(tools: ToolSet, clock: Clock): RestOptions {
  const validator = async () => new FakeSchemaValidator();
  return {
    gateway: () => undefined,
    builtIn: new BuiltInServer({ tools, clock, validator, timeoutMs: 300_000 }),
    version: '0.0.0-test',
    pageFolder: undefined,
  };
}
