import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Gateway, VisibleGateway } from '../../../../application/gateway/gateway.ts';
import type { Clock } from '../../../../application/ports/clock.ts';
import { BUILT_IN_SERVER, type Rights } from '../../../../domain/gateway/call-origin.ts';
import { type Redactor, redactedJson } from '../../../../domain/values/redaction.ts';
import type { BuiltInServer } from './built-in-server.ts';
import { toOpenApi } from './openapi.ts';

interface ToolDocumentsOptions {
  readonly gateway: () => Pick<Gateway, 'as'> | undefined;
  readonly builtIn: Pick<BuiltInServer, 'toolsFor' | 'timeoutMs'>;
  /** Whose documents they are. */
  readonly rights: Rights;
  readonly version: string;
  readonly requiresToken: boolean;
  readonly redactor: Pick<Redactor, 'anywhere'>;
  readonly clock: Pick<Clock, 'elapsedMs'>;
}

interface ToolListDocument {
  readonly json: Buffer;
  readonly etag: string;
}

interface Current extends Pick<VisibleGateway, 'tools' | 'servers'> {
  readonly timeoutOf: (server: string) => number | undefined;
}

/** How long documents are made before other requests are served. */
const TURN_MS = 10;

/**
 * What `/mcp/tools` and `/openapi.json` return. Each is kept until a tool or a server has changed, because to make it for a thousand tools
 * takes up to a second, in turns of the event loop. Its bytes are shared by the responses that are being sent.
 */
export class ToolDocuments {
  readonly #options: ToolDocumentsOptions;
  /** What the documents depend on. Tools are objects that do not change. */
  #known: readonly unknown[] = [];
  readonly #lists = new Map<string | null, Promise<ToolListDocument>>();
  #openApi: Promise<Buffer> | undefined;

  constructor(options: ToolDocumentsOptions) {
    this.#options = options;
  }

  /** The tools and servers; `only` is the name of a known server, or null for all of them. */
  list(only: string | null): Promise<ToolListDocument> {
    const current = this.#current();
    const list = this.#lists.get(only) ?? this.#makeList(this.#listParts(only, current));
    this.#lists.set(only, list);
    return list;
  }

  async #makeList(parts: Iterable<string>): Promise<ToolListDocument> {
    const json = await this.#inTurns(parts);
    return { json, etag: `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"` };
  }

  *#listParts(only: string | null, { tools, servers, timeoutOf }: Current): Generator<string> {
    const isListed = (server: string) => only === null || server === only;
    yield '{"success":true,"tools":[';
    for (const [index, tool] of tools.filter(({ server }) => isListed(server)).entries())
      yield `${index > 0 ? ',' : ''}${this.#toJson({ ...tool, timeout: timeoutOf(tool.server) })}`;
    const states = servers.filter(({ name }) => isListed(name)).map(({ name, state }) => ({ name, state }));
    yield `],"servers":${this.#toJson(states)}}`;
  }

  /** The OpenAPI document for clients that use this URL of the server, which any request can name in another way. */
  async describe(url: string): Promise<Buffer> {
    const { tools } = this.#current();
    const { version, requiresToken } = this.#options;
    const toJson = (value: unknown) => this.#toJson(value);
    this.#openApi ??= this.#inTurns(toOpenApi({ tools, version, requiresToken, toJson }));
    const document = await this.#openApi;
    return Buffer.concat([Buffer.from(`{"servers":[${toJson({ url })}],`), document.subarray(1)]);
  }

  async #inTurns(parts: Iterable<string>): Promise<Buffer> {
    const { clock } = this.#options;
    const made: string[] = [];
    let sinceMs = clock.elapsedMs();
    for (const part of parts) {
      made.push(part);
      if (clock.elapsedMs() - sinceMs < TURN_MS) continue;
      await nextTurn();
      sinceMs = clock.elapsedMs();
    }
    return Buffer.from(made.join(''));
  }

  #toJson(value: unknown): string {
    return redactedJson(value, this.#options.redactor.anywhere);
  }

  /** What exists now. Forgets the documents if they are outdated. */
  #current(): Current {
    const { gateway, builtIn, rights } = this.#options;
    const visible = gateway()?.as(rights);
    const tools = [...(visible?.tools ?? []), ...builtIn.toolsFor(rights)];
    const servers = visible?.servers ?? [];
    const timeoutOf = (server: string) => (server === BUILT_IN_SERVER ? builtIn.timeoutMs : visible?.timeoutOf(server));
    const parts = [...tools, ...servers.flatMap(({ name, state }) => [name, state, timeoutOf(name)])];
    if (parts.length !== this.#known.length || parts.some((part, index) => part !== this.#known[index])) {
      this.#known = parts;
      this.#lists.clear();
      this.#openApi = undefined;
    }
    return { tools, servers, timeoutOf };
  }
}
