import { createHash } from 'node:crypto';
import type { Gateway } from '../../../../application/gateway/gateway.ts';
import { BUILT_IN_SERVER } from '../../../../domain/gateway/gateway-tool.ts';
import { type Redactor, redactedJson } from '../../../../domain/values/redaction.ts';
import type { BuiltInServer } from './built-in-server.ts';
import { toOpenApi } from './openapi.ts';

interface ToolDocumentsOptions {
  readonly gateway: () => Pick<Gateway, 'tools' | 'servers' | 'timeoutOf'> | undefined;
  readonly builtIn: Pick<BuiltInServer, 'tools' | 'timeoutMs'>;
  readonly version: string;
  readonly requiresToken: boolean;
  readonly redactor: Pick<Redactor, 'anywhere'>;
}

interface ToolListDocument {
  readonly json: Buffer;
  readonly etag: string;
}

/**
 * What `/mcp/tools` and `/openapi.json` return. Each is kept until a tool or a server has changed, because to make it for hundreds of tools
 * takes up to half a second, in which nothing else is served. Its bytes are shared by the responses that are being sent.
 */
export class ToolDocuments {
  readonly #options: ToolDocumentsOptions;
  /** What the documents depend on. Tools are objects that do not change. */
  #known: readonly unknown[] = [];
  readonly #lists = new Map<string | null, ToolListDocument>();
  #openApi: Buffer | undefined;

  constructor(options: ToolDocumentsOptions) {
    this.#options = options;
  }

  /** The tools and servers; `only` is the name of a known server, or null for all of them. */
  list(only: string | null): ToolListDocument {
    const tools = this.#currentTools();
    const known = this.#lists.get(only);
    if (known !== undefined) return known;
    const { gateway, builtIn, redactor } = this.#options;
    const timeoutOf = (server: string) =>
      server === BUILT_IN_SERVER ? builtIn.timeoutMs : gateway()?.timeoutOf(server);
    const isListed = (server: string) => only === null || server === only;
    const servers = gateway()?.servers ?? [];
    const body = {
      success: true,
      tools: tools.flatMap((tool) => (isListed(tool.server) ? [{ ...tool, timeout: timeoutOf(tool.server) }] : [])),
      servers: servers.flatMap(({ name, state }) => (isListed(name) ? [{ name, state }] : [])),
    };
    const json = Buffer.from(redactedJson(body, redactor.anywhere));
    const etag = `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`;
    const list = { json, etag };
    this.#lists.set(only, list);
    return list;
  }

  /** The OpenAPI document for clients that use this URL of the server, which any request can name in another way. */
  describe(url: string): Buffer {
    const tools = this.#currentTools();
    const { version, requiresToken, redactor } = this.#options;
    const toJson = (value: unknown) => redactedJson(value, redactor.anywhere);
    this.#openApi ??= Buffer.from(toJson(toOpenApi({ tools, version, requiresToken })));
    return Buffer.concat([Buffer.from(`{"servers":[${toJson({ url })}],`), this.#openApi.subarray(1)]);
  }

  /** Forgets the documents if they are outdated. */
  #currentTools() {
    const { gateway: current, builtIn } = this.#options;
    const gateway = current();
    const tools = [...(gateway?.tools ?? []), ...builtIn.tools];
    const servers = (gateway?.servers ?? []).flatMap(({ name, state }) => [name, state, gateway?.timeoutOf(name)]);
    const parts = [...tools, ...servers];
    if (parts.length !== this.#known.length || parts.some((part, index) => part !== this.#known[index])) {
      this.#known = parts;
      this.#lists.clear();
      this.#openApi = undefined;
    }
    return tools;
  }
}
