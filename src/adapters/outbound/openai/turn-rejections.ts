import { createHash } from 'node:crypto';
import type { WebAccess } from '../../../application/ports/llm-turns.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import { BoundedSet } from '../../../domain/bounded-set.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import type { RequestBody } from './api-types.ts';
import type { Failure } from './failure.ts';

interface FunctionTool {
  readonly type: string;
  readonly name?: string;
  readonly parameters?: unknown;
}

/** Remembers what the API rejected in requests with functions (rulings L5, L19). */
export class TurnRejections {
  readonly #logger: Logger;
  /** The rejected functions, by `keyOf`: servers may change their schemas without end. */
  readonly #functions = new BoundedSet();
  /** Models that accept no search tool that is closed. */
  readonly #closedWeb = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The body without what is known to be rejected. */
  omitFrom(body: RequestBody): RequestBody {
    const isKnown = (tool: FunctionTool) => this.#functions.size > 0 && this.#functions.has(keyOf(body, tool));
    const tools = toolsOf(body).filter((tool) => !isKnown(tool));
    const kept = tools.length === toolsOf(body).length ? body : withTools(body, tools);
    return this.#closedWeb.has(String(body.model)) && isRestricted(body) ? withoutWeb(kept) : kept;
  }

  /** Remembers a rejection. Returns the body for another attempt, or undefined if the rejection is about something else. */
  add(body: RequestBody, { rejection }: Failure, mustBeClosed: boolean): RequestBody | undefined {
    if (rejection === undefined) return undefined;
    const { param, message } = rejection;
    const tools = toolsOf(body);
    const named = /Invalid schema for function '([^']+)'/.exec(message)?.[1];
    const [, index] = /^tools\[(\d+)\]/.exec(param || (/\btools\[.*/.exec(message)?.[0] ?? '')) ?? [];
    const name = named ?? (index === undefined ? undefined : tools[Number(index)]?.name);
    const rejected = tools.find((tool) => name !== undefined && tool.name === name);
    if (rejected !== undefined) {
      this.#remember(body, rejected);
      return withTools(
        body,
        tools.filter((tool) => tool.name !== name),
      );
    }
    if (
      !mustBeClosed ||
      !isClosed(body) ||
      !/tool_choice|allowed_tools|external_web_access/.test(`${param} ${message}`)
    )
      return undefined;
    this.#closedWeb.add(String(body.model));
    return withoutWeb(body);
  }

  #remember(body: RequestBody, tool: FunctionTool): void {
    const key = keyOf(body, tool);
    if (!this.#functions.has(key)) {
      this.#logger.warn(
        `grounding: the API rejected the schema of ${tool.name} for ${body.model}; the tool is not offered to this model until its schema changes`,
      );
    }
    this.#functions.add(key);
  }
}

/** The error of a round: what it means for the conversation (rulings L13, L19). */
export function toTurnError(
  error: SearchError,
  body: RequestBody,
  rejection: Failure['rejection'],
  web: WebAccess,
): SearchError {
  const detail = 'detail' in error ? error.detail : '';
  const isRejected = error.kind === 'bad_request';
  const hasHistory = Array.isArray(body.input) && body.input.length > 1;
  const isAboutInput =
    /^input\b/.test(rejection?.param ?? '') || /\bitem (?:with id )?'|No tool call found/i.test(detail);
  if (isRejected && hasHistory && isAboutInput) return { kind: 'history_rejected', detail };
  if (web !== 'closed') return error;
  const isAboutWeb = isRejected && ABOUT_WEB.test(`${rejection?.param} ${detail}`);
  return isAboutWeb || (error.kind === 'server_error' && UNDECLARED_SEARCH.test(detail))
    ? { kind: 'web_not_restricted', detail }
    : error;
}

const ABOUT_WEB = /^tools\b|tool_choice|allowed_tools|web_search|external_web_access/;
/** What a back end reports if the history has a search, but the request declares no search tool. */
const UNDECLARED_SEARCH = /response protection/i;

/** Another model, or another schema, may be accepted. */
function keyOf({ model }: RequestBody, { name, parameters }: FunctionTool): string {
  return createHash('sha256')
    .update(JSON.stringify([model, name, parameters]))
    .digest('base64');
}

function toolsOf({ tools = [] }: RequestBody): readonly FunctionTool[] {
  return tools as readonly FunctionTool[];
}

function isClosed(body: RequestBody): boolean {
  return toolsOf(body).some((tool) => (tool as JsonObject & FunctionTool).external_web_access === false);
}

/** The tools are restricted to functions: the web is closed because of private data, and not by the configuration. */
function isRestricted(body: RequestBody): boolean {
  const choice = body.tool_choice as { readonly type?: string } | string | undefined;
  return isClosed(body) && typeof choice === 'object' && choice.type === 'allowed_tools';
}

function withoutWeb(body: RequestBody): RequestBody {
  const { tool_choice: choice, ...rest } = body;
  const kept = choice === 'none' ? { ...rest, tool_choice: choice } : rest;
  return withTools(
    kept as RequestBody,
    toolsOf(body).filter(({ type }) => type === 'function'),
  );
}

/** The allowed tools must be among the tools. Without any of them, nothing may be called; without tools, there is no choice. */
function withTools(body: RequestBody, tools: readonly FunctionTool[]): RequestBody {
  const { tools: _, tool_choice: choice, ...rest } = body;
  if (tools.length === 0) return rest as RequestBody;
  return { ...body, ...narrowed(choice, tools), tools } as unknown as RequestBody;
}

function narrowed(choice: RequestBody['tool_choice'], tools: readonly FunctionTool[]): object {
  if (!isObject(choice) || choice.type !== 'allowed_tools' || !Array.isArray(choice.tools)) return {};
  const names = new Set(tools.map(({ name }) => name));
  const allowed = choice.tools.filter((tool) => isObject(tool) && names.has(String(tool.name)));
  return { tool_choice: allowed.length === 0 ? 'none' : { ...choice, tools: allowed } };
}
