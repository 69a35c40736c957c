import type { HttpServerOptions } from '../../src/adapters/inbound/http/serve.ts';
import type { ToolCatalogue } from '../../src/application/tools/tool-catalogue.ts';

/** REST with these tools, and without servers and the page. */
export function noServers(catalogue: ToolCatalogue): HttpServerOptions['rest'] {
  return { gateway: () => undefined, catalogue, timeoutMs: 300_000, version: '0.0.0-test', pageFolder: undefined };
}
