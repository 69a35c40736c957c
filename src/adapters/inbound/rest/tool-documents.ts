import { createHash } from 'node:crypto';
import type { ServerStatus } from '../../../application/server-supervisor.ts';
import type { GatewayTool } from '../../../domain/gateway-tool.ts';
import { redactedJson } from '../../../domain/redaction.ts';
import { toOpenApi } from './openapi.ts';

export interface ToolDocumentsOptions {
  readonly tools: () => readonly GatewayTool[];
  readonly servers: () => readonly Pick<ServerStatus, 'name' | 'state'>[];
  /** The time limit of a call of a tool of this server, in milliseconds. */
  readonly timeoutOf: (server: string) => number | undefined;
  readonly version: string;
  readonly requiresToken: boolean;
  readonly redact: (text: string) => string;
}

/** A list of tools as JSON. */
export interface ToolListDocument {
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
    this.#forgetOutdated();
    const known = this.#lists.get(only);
    if (known !== undefined) return known;
    const { tools, servers, timeoutOf, redact } = this.#options;
    const isListed = (server: string) => only === null || server === only;
    const body = {
      success: true,
      tools: tools().flatMap((tool) => (isListed(tool.server) ? [{ ...tool, timeout: timeoutOf(tool.server) }] : [])),
      servers: servers().flatMap(({ name, state }) => (isListed(name) ? [{ name, state }] : [])),
    };
    const json = Buffer.from(redactedJson(body, redact));
    const etag = `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`;
    const list = { json, etag };
    this.#lists.set(only, list);
    return list;
  }

  /** The OpenAPI document for clients that use this URL of the server, which any request can name in another way. */
  describe(url: string): Buffer {
    this.#forgetOutdated();
    const { tools, version, requiresToken, redact } = this.#options;
    this.#openApi ??= Buffer.from(redactedJson(toOpenApi({ tools: tools(), version, requiresToken }), redact));
    return Buffer.concat([Buffer.from(`{"servers":[${redactedJson({ url }, redact)}],`), this.#openApi.subarray(1)]);
  }

  #forgetOutdated(): void {
    const { tools, servers, timeoutOf } = this.#options;
    const current = [...tools(), ...servers().flatMap(({ name, state }) => [name, state, timeoutOf(name)])];
    if (current.length === this.#known.length && current.every((part, index) => part === this.#known[index])) return;
    this.#known = current;
    this.#lists.clear();
    this.#openApi = undefined;
  }
}
