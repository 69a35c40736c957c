import { createHash } from 'node:crypto';
import type { SearchRequest } from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { BoundedSet } from '../../../domain/values/bounded-set.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { asObject } from './json-values.ts';
import { ENCRYPTED_REASONING, type RequestBody, type RequestTool } from './request-body.ts';

/** What the API rejected in a request. */
export interface Rejection {
  /** As the API names it: `reasoning.effort`, `tools[0].user_location`; empty if only the message says what was rejected. */
  readonly param: string;
  /** True if the model does not support the parameter, false if it may accept other values. */
  readonly isParameter: boolean;
  /** The API's message. */
  readonly message: string;
}

/** A part of a request that may be left out, or replaced, if a model rejects it. */
interface Part {
  /** Identifies the part, with `value` if the model may accept another value. */
  readonly name: string;
  readonly value?: unknown;
  readonly isMeantBy: (rejection: Rejection) => boolean;
  readonly omitFrom: (body: RequestBody) => RequestBody;
  /** What the log says when the API rejects it for the first time. */
  readonly warning?: (model: string, rejection: Rejection) => string;
  /** The request without it is no retry (rulings L5 and L19). */
  readonly isFree?: true;
}

/**
 * Paths of what may be omitted, with everything below it. The two members of `reasoning` are rejected one by one (ruling A5). Not `store` and
 * the domain filter: a user who sets them wants no answer without.
 */
const OPTIONAL = [
  'reasoning.effort reasoning.mode',
  'tools.search_context_size tools.user_location tools.return_token_budget',
  'reasoning text include max_output_tokens max_tool_calls service_tier',
].flatMap((paths) => paths.split(' '));

/** Remembers, per model, what the API rejected, so that it is not sent again (rulings 12, L5, L19). */
export class Rejections {
  readonly #logger: Logger;
  /** Bounded, because servers may change the schemas of their tools without end. */
  readonly #known = new BoundedSet();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The body without what its model is known to reject. */
  omitFrom(body: RequestBody, request: SearchRequest): RequestBody {
    if (this.#known.size === 0) return body;
    const isKnown = ({ name, value }: Part) =>
      this.#known.has(keyOf(body, name)) || this.#known.has(keyOf(body, name, value));
    return partsOf(body, request)
      .filter(isKnown)
      .reduce((left, part) => part.omitFrom(left), body);
  }

  /** Remembers a rejection. The request for another attempt, or undefined if what was rejected cannot be left out. */
  add(body: RequestBody, rejection: Rejection, request: SearchRequest) {
    const part = partsOf(body, request).find(({ isMeantBy }) => isMeantBy(rejection));
    if (part === undefined) return undefined;
    const key = keyOf(body, part.name, rejection.isParameter ? undefined : part.value);
    // Concurrent calls get the same rejection: it is logged once.
    if (part.warning !== undefined && !this.#known.has(key)) this.#logger.warn(part.warning(body.model, rejection));
    this.#known.add(key);
    return { body: part.omitFrom(body), isFree: part.isFree === true };
  }
}

/** Hashed, because a schema is long. */
function keyOf({ model }: RequestBody, name: string, value?: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([model, name, value]))
    .digest('base64');
}

/** The parts of a request, the more specific ones first. */
function partsOf(body: RequestBody, { conversation, isLong }: SearchRequest): readonly Part[] {
  const { tools = [], include, tool_choice: choice } = body;
  const isForced = typeof choice === 'object' && choice.type === tools[0]?.type;
  return [
    ...tools.filter(({ type }) => type === 'function').map((tool) => toFunction(tool, tools)),
    ...(conversation?.web === 'closed' && isClosed(body) ? [CLOSED_WEB] : []),
    ...(include?.includes(ENCRYPTED_REASONING) ? [REASONING] : []),
    ...(isForced ? [FORCED_SEARCH] : []),
    // A long request then runs as an ordinary one (ruling K4).
    ...[...OPTIONAL, ...(isLong ? ['background'] : [])]
      .map((path) => toOptional(path, body))
      .filter(({ value }) => value !== undefined),
  ];
}

function toFunction({ name, parameters }: RequestTool, tools: readonly RequestTool[]): Part {
  return {
    // Another schema may be accepted.
    name: JSON.stringify([name, parameters]),
    isMeantBy: ({ param, message }) => {
      const named = /Invalid schema for function '([^']+)'/.exec(message)?.[1];
      const index = /\btools\[(\d+)\]/.exec(param || message)?.[1];
      return name === (named ?? tools[Number(index)]?.name);
    },
    omitFrom: (body) => withTools(body, (other) => other.name !== name),
    warning: (model) =>
      `grounding: the API rejected the schema of ${name} for ${model}; the tool is not offered to this model until its schema changes`,
    isFree: true,
  };
}

/** Without the search tool, the web is closed, too. */
const CLOSED_WEB: Part = {
  name: 'closed web',
  isMeantBy: ({ param, message }) => /tool_choice|allowed_tools|external_web_access/.test(`${param} ${message}`),
  omitFrom: (body) => {
    const kept = withTools(body, ({ type }) => type === 'function');
    return kept.tool_choice === 'none' ? kept : without(kept, 'tool_choice');
  },
  isFree: true,
};

/** The sources stay in `include`. */
const REASONING: Part = {
  name: ENCRYPTED_REASONING,
  isMeantBy: ({ param }) => /^include\b/.test(param),
  omitFrom: (body) => {
    const include = (body.include ?? []).filter((entry) => entry !== ENCRYPTED_REASONING);
    return include.length === 0 ? without(body, 'include') : { ...body, include };
  },
  warning: (model) => `openai(client): ${model} rejected include=${ENCRYPTED_REASONING}; it is omitted from now on`,
};

/** Servers may know only `required` (ruling A4). */
const FORCED_SEARCH: Part = {
  name: 'tool_choice',
  isMeantBy: ({ param }) => param.startsWith('tool_choice'),
  omitFrom: (body) => ({ ...body, tool_choice: 'required' }),
  warning: (model) =>
    `openai(client): ${model} rejected a forced search tool; tool_choice=required is sent from now on`,
};

function toOptional(path: string, body: RequestBody): Part {
  const [name = '', member] = path.split('.');
  const parent = name === 'tools' ? body.tools?.[0] : body[name];
  const value = member === undefined ? parent : asObject(parent)?.[member];
  return {
    name: member ?? name,
    value,
    isMeantBy: ({ param }) => {
      const [first, second] = param.split(/[.[\]\d]+/);
      return first === name && (member === undefined || second === member);
    },
    omitFrom: (body) => {
      if (member === undefined) return without(body, name);
      if (name === 'tools') return { ...body, tools: (body.tools ?? []).map((tool) => without(tool, member)) };
      const reasoning = without(body.reasoning ?? {}, member);
      return Object.keys(reasoning).length === 0 ? without(body, name) : { ...body, reasoning };
    },
    warning: (model, { param, isParameter }) => {
      const inner = isObject(value) ? value[param.split('.').at(-1) ?? ''] : undefined;
      const rejected = isParameter ? param : `${param}=${JSON.stringify(inner ?? value)}`;
      return `openai(client): ${model} rejected ${rejected}; it is omitted from now on`;
    },
  };
}

/** Whether the search tool is offered without live access. */
export function isClosed({ tools = [] }: RequestBody): boolean {
  return tools.some((tool) => tool.external_web_access === false);
}

function without<T extends JsonObject>(object: T, name: string): T {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)) as T;
}

/** The allowed tools must be among the tools. Without any of them, nothing may be called; without tools, there is no choice. */
function withTools(body: RequestBody, isKept: (tool: RequestTool) => boolean): RequestBody {
  const tools = (body.tools ?? []).filter(isKept);
  if (tools.length === 0) return without(without(body, 'tools'), 'tool_choice');
  const { tool_choice: choice } = body;
  if (typeof choice !== 'object' || choice.tools === undefined) return { ...body, tools };
  const allowed = choice.tools.filter((allowed) => tools.some(({ name }) => name === allowed.name));
  return { ...body, tools, tool_choice: allowed.length === 0 ? 'none' : { ...choice, tools: allowed } };
}
