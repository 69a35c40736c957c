import { ResultAsync } from 'neverthrow';
import { type ApprovedTools, changeOf } from '../../domain/gateway/approved-tools.ts';
import { type GatewayTool, isAllowed, type ToolFilter } from '../../domain/gateway/gateway-tool.ts';
import { override, type ToolOverrides } from '../../domain/gateway/overrides.ts';
import type { ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import { clip } from '../../domain/values/clean-text.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { ListedTool, ServerConnection } from '../ports/tool-server.ts';

/** Which tools of a server exist, and how callers see them. */
export type ToolRules = ToolFilter & ToolOverrides;

interface ToolListOptions {
  readonly name: string;
  readonly filter: ToolRules;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** A reason is in every list of servers, and may be a text of the server. */
export const MAX_REASON = 2000;

/** How many tools are remembered, and with them some that the server no longer has. */
const MAX_KNOWN = 2000;
/** In so long, a tool is in one warning, and so many tools are. */
const WARNING_MS = 60_000;
const MAX_WARNINGS = 100;

/** The tools of a server, as it listed them last (ruling G9). */
export class ToolList {
  readonly #options: ToolListOptions;
  /** Undefined if every tool is offered (`gateway.lock`). */
  #approved: ApprovedTools | undefined;
  #own: readonly GatewayTool[] | undefined;
  #current = compare([], {}, undefined);
  /** The fingerprint of every tool that was listed, so that one is recognized that was gone for a while. */
  readonly #known = new Map<string, string>();
  /** The tools with a warning since then. */
  readonly #warned = new Set<string>();
  #warnedSinceMs = Number.NEGATIVE_INFINITY;

  constructor(options: ToolListOptions, approved: ApprovedTools | undefined) {
    this.#options = options;
    this.#approved = approved;
  }

  /** What callers see. */
  get current(): ReturnType<typeof compare> {
    return this.#current;
  }

  /** All tools that the filter allows, as the server describes them; undefined before the first list. */
  get own(): readonly GatewayTool[] | undefined {
    return this.#own;
  }

  /** Replaces the approved tools, with which this list and later ones are compared. */
  approve(approved: ApprovedTools | undefined): void {
    this.#approved = approved;
    if (this.#own !== undefined) this.#compare(this.#own);
  }

  #compare(own: readonly GatewayTool[]): void {
    const { name, filter, logger } = this.#options;
    const known = this.#current.problems;
    this.#own = own;
    this.#current = compare(own, filter, this.#approved);
    for (const problem of this.#current.problems)
      if (!known.includes(problem)) logger.warn(`gateway: ${name}: ${problem}`);
  }

  /** Reads the complete list, and warns about tools that are described differently (tool poisoning). If it fails, the list stays. */
  read(connection: ServerConnection, signal: AbortSignal): ResultAsync<void, string> {
    return new ResultAsync(connection.listTools(signal)).map((listed) => this.#accept(listed)).mapErr(reasonOf);
  }

  #accept(listed: readonly ListedTool[]): void {
    const allowed = listed.filter(({ tool }) => isAllowed(tool.name, this.#options.filter));
    const isChanged = ({ tool, fingerprint }: ListedTool) =>
      (this.#known.get(tool.name) ?? fingerprint) !== fingerprint;
    this.#compare(allowed.map(({ tool }) => tool));
    const changed = new Set(allowed.filter(isChanged).map(({ tool }) => tool));
    this.#warn([...this.#current.byName.values()].flatMap(({ own, tool }) => (changed.has(own) ? tool.name : [])));
    if (this.#known.size > MAX_KNOWN) this.#known.clear();
    for (const { tool, fingerprint } of allowed) this.#known.set(tool.name, fingerprint);
  }

  /** A server that changes its descriptions all the time does not fill the log. */
  #warn(changed: readonly string[]): void {
    const { name: server, logger, clock } = this.#options;
    if (clock.elapsedMs() - this.#warnedSinceMs >= WARNING_MS) {
      this.#warned.clear();
      this.#warnedSinceMs = clock.elapsedMs();
    }
    for (const name of changed) {
      if (this.#warned.has(name) || this.#warned.size >= MAX_WARNINGS) continue;
      this.#warned.add(name);
      logger.warn(`gateway: the description or schema of the tool ${server}/${name} has changed`);
    }
  }
}

/** The tools for callers, of which only those are offered that are as they were approved (rulings T13 and T14). */
function compare(listed: readonly GatewayTool[], rules: ToolRules, approved: ApprovedTools | undefined) {
  const { tools, problems } = override(listed, rules);
  const found = tools.map((each) => ({ ...each, change: approved && changeOf(each.own, approved) }));
  return {
    byName: new Map(found.map((each) => [each.tool.name, each])),
    offered: found.filter(({ change }) => change === undefined).map(({ tool }) => tool),
    changed: found.filter(({ change }) => change !== undefined).map(({ tool }) => tool),
    /** What is probably mistyped in the rules, for people. */
    problems,
  };
}

function reasonOf(error: ToolServerError): string {
  switch (error.kind) {
    case 'json_rpc':
      return `tools/list failed: ${clip(error.message, MAX_REASON)}`;
    case 'crashed':
      return error.reason;
    case 'too_large':
      return `tools/list failed: a page is larger than ${error.maxBytes} bytes (max_response_bytes)`;
    case 'invalid_result':
      return `tools/list failed: ${error.detail}`;
    case 'login_required':
      return 'the server requires a login';
    case 'unauthorized':
      return error.reason ?? `the server did not accept the credentials (HTTP ${error.status}); check its headers`;
    case 'aborted':
      return 'tools/list was not answered in time';
  }
}
