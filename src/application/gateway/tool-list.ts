import { ResultAsync } from 'neverthrow';
import { type ApprovedTools, changeOf } from '../../domain/gateway/approved-tools.ts';
import {
  type GatewayTool,
  isAllowed,
  override,
  type ToolFilter,
  type ToolOverrides,
} from '../../domain/gateway/gateway-tool.ts';
import type { LeftOut } from '../../domain/gateway/shared-entries.ts';
import type { ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import { cleanLine, clip } from '../../domain/values/clean-text.ts';
import { isSameJson } from '../../domain/values/json.ts';
import type { Services } from '../ports/services.ts';
import type { ListedTools, ServerConnection } from '../ports/tool-server.ts';

/** Rules that select the tools of a server, and change how callers see them. */
export type ToolRules = ToolFilter & ToolOverrides;

interface ToolListOptions extends Pick<Services, 'logger'> {
  readonly name: string;
  readonly filter: ToolRules;
}

/** Maximum length of a reason, which is in every list of servers, and may be a text of the server. */
export const MAX_REASON = 2000;

/** The tools of a server, as it last listed them. */
export class ToolList {
  readonly #options: ToolListOptions;
  /** The tools in `gateway.lock`; undefined without a lock, so that every tool is offered. */
  #approved: ApprovedTools | undefined;
  #listed: readonly GatewayTool[] | undefined;
  #leftOut: readonly LeftOut[];
  #current = compare([], {}, undefined);
  /** Whether the tools are those of an earlier start, because the server has not been asked yet. */
  #isKept: boolean;
  #difference: string | undefined;
  readonly #warned = new Set<string>();
  /** How often each tool has changed. */
  readonly #changes = new Map<string, number>();

  constructor(
    options: ToolListOptions,
    approved: ApprovedTools | undefined,
    kept: ListedTools | undefined = undefined,
  ) {
    this.#options = options;
    this.#isKept = kept !== undefined;
    this.#listed = kept?.tools;
    this.#leftOut = kept?.leftOut ?? [];
    this.approve(approved);
  }

  /** All tools that the server listed, also those that the filter hides; undefined before the first list. */
  get listed(): readonly GatewayTool[] | undefined {
    return this.#listed;
  }

  /** What the server listed that is no tool. */
  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** How the tools differ from the kept ones, for people; undefined without a difference, or if none were kept. */
  get difference(): string | undefined {
    return this.#difference;
  }

  /** The tools as callers see them. */
  get current(): ReturnType<typeof compare> {
    return this.#current;
  }

  /** All tools that the filter allows, as the server describes them; undefined before the first list. */
  get own(): readonly GatewayTool[] | undefined {
    return this.#listed?.filter(({ name }) => isAllowed(name, this.#options.filter));
  }

  /** Replaces the approved tools, with which this list and later lists are compared. */
  approve(approved: ApprovedTools | undefined): void {
    this.#approved = approved;
    this.#compare();
  }

  #compare(): void {
    const { name, filter, logger } = this.#options;
    const { own } = this;
    if (own === undefined) return;
    this.#current = compare(own, filter, this.#approved);
    for (const problem of this.#current.problems) {
      if (!this.#warned.has(problem)) logger.warn(`gateway: ${name}: ${problem}`);
      this.#warned.add(problem);
    }
  }

  /** Reads the complete list, and warns about changed descriptions of tools (tool poisoning). If that fails, the known list stays. */
  read(connection: ServerConnection, signal: AbortSignal): ResultAsync<void, string> {
    return new ResultAsync(connection.listTools(signal)).map((listed) => this.#accept(listed)).mapErr(listFailure);
  }

  /** Takes a list that another connection to the same server has read. */
  adopt(listed: ListedTools): void {
    this.#accept(listed);
  }

  /** The approved tools, with which the list is compared. */
  get approved(): ApprovedTools | undefined {
    return this.#approved;
  }

  #countChange(tool: string): number {
    const times = (this.#changes.get(tool) ?? 0) + 1;
    this.#changes.set(tool, times);
    return times;
  }

  #accept({ tools: listed, leftOut }: ListedTools): void {
    const { name: server, logger } = this.#options;
    const before = this.own ?? [];
    this.#listed = listed;
    this.#leftOut = leftOut;
    this.#compare();
    const changed = (this.own ?? []).filter((tool) =>
      before.some((known) => known.name === tool.name && !isSameJson(known, tool)),
    );
    if (this.#isKept) {
      this.#isKept = false;
      this.#difference = differenceOf(before, this.own ?? [], changed);
      if (this.#difference !== undefined)
        logger.warn(`gateway: ${server}: its tools have changed since its last start (${this.#difference})`);
    } else {
      for (const { own, tool } of this.#current.byName.values()) {
        const times = changed.includes(own) ? this.#countChange(own.name) : 0;
        const count = times === 1 ? '' : ` ${times} times`;
        if (isPowerOfTwo(times))
          logger.warn(`gateway: the description or schema of the tool ${server}/${tool.name} has changed${count}`);
      }
    }
  }
}

/** Whether a change is reported: a tool that changes all the time is reported ever more rarely. */
function isPowerOfTwo(times: number): boolean {
  return times > 0 && Number.isInteger(Math.log2(times));
}

function differenceOf(
  before: readonly GatewayTool[],
  after: readonly GatewayTool[],
  changed: readonly GatewayTool[],
): string | undefined {
  const without = (tools: readonly GatewayTool[], others: readonly GatewayTool[]) =>
    tools.filter(({ name }) => !others.some((other) => other.name === name));
  const kinds = { new: without(after, before), changed, gone: without(before, after) };
  const texts = Object.entries(kinds)
    .filter(([, tools]) => tools.length > 0)
    .map(([kind, tools]) => `${kind}: ${tools.map(({ name }) => name).join(', ')}`);
  return texts.length === 0 ? undefined : clip(cleanLine(texts.join('; ')), MAX_REASON);
}

/** Compares the tools for callers with the approved ones. Only unchanged tools are offered. */
function compare(listed: readonly GatewayTool[], rules: ToolRules, approved: ApprovedTools | undefined) {
  const { tools, problems } = override(listed, rules);
  const found = tools.map((each) => ({ ...each, change: approved && changeOf(each.own, approved) }));
  return {
    byName: new Map(found.map((each) => [each.tool.name, each])),
    offered: found.filter(({ change }) => change === undefined).map(({ tool }) => tool),
    changed: found.filter(({ change }) => change !== undefined).map(({ tool }) => tool),
    /** Rules that are probably mistyped, for people. */
    problems,
  };
}

/** Why the list cannot be read, for people. */
function listFailure(error: ToolServerError): string {
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
