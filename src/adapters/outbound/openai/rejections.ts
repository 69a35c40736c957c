import type { SearchRequest } from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/services.ts';
import { PARAMETERS } from '../../../domain/answers/model-profile.ts';
import { asObject, type JsonObject } from '../../../domain/values/json.ts';
import { type PartWords, partNamedIn } from './named-part.ts';
import { ENCRYPTED_REASONING, type RequestBody, type RequestTool } from './request-body.ts';

/** A rejection of a part of a request by the API. */
export interface Rejection {
  /** The parameter as the API names it: `reasoning.effort`, `tools[0].user_location`; empty if only the message says what was rejected. */
  readonly param: string;
  /** The API's message. */
  readonly message: string;
}

/** A part of a request that may be left out, or replaced, if a model rejects it. */
interface Part {
  readonly name: string;
  readonly isMeantBy: (rejection: Rejection) => boolean;
  /** What a message can call the part: its path, and its value. */
  readonly words?: PartWords;
  readonly omitFrom: (body: RequestBody) => RequestBody;
  /** The line in the log when the API rejects the part for the first time. */
  readonly warning?: (model: string, rejection: Rejection) => string;
}

const PATHS = [...Object.values(PARAMETERS).map(({ path }) => path), 'tools.user_location', 'include'];

/** The choice of streaming: without it, the response comes as one JSON text. */
export const STREAM = 'stream';

/**
 * Paths of the parts that may be omitted, with everything below them: members, then the objects that have them. `store` and the domain filter are
 * not among them, because a user who sets these wants no answer without them.
 */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...PATHS.filter((path) => path.includes('.')),
  ...PATHS.map((path) => path.replace(/\..*/, '')).filter((name) => name !== 'tools'),
]);

/** Remembers the parts of requests that the API rejected, per model, so that they are not sent again. */
export class Rejections {
  readonly #logger: Logger;
  readonly #known = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The body without the parts that its model is known to reject. */
  omitFrom(body: RequestBody, request: SearchRequest): RequestBody {
    if (this.#known.size === 0) return body;
    return partsOf(body, request)
      .filter(({ name }) => this.#known.has(keyOf(body, name)))
      .reduce((left, part) => part.omitFrom(left), body);
  }

  /** Remembers a rejection. Returns the body without the rejected part; undefined if this part cannot be left out. */
  add(body: RequestBody, rejection: Rejection, request: SearchRequest): RequestBody | undefined {
    const parts = partsOf(body, request);
    const part = parts.find(({ isMeantBy }) => isMeantBy(rejection)) ?? partNamedIn(rejection, parts);
    if (part === undefined) return undefined;
    const key = keyOf(body, part.name);
    // Concurrent calls get the same rejection: it is logged once.
    if (part.warning !== undefined && !this.#known.has(key))
      this.#logger.warn(
        part.warning(body.model, part.isMeantBy(rejection) ? rejection : { ...rejection, param: part.name }),
      );
    this.#known.add(key);
    return part.omitFrom(body);
  }
}

function keyOf({ model }: RequestBody, name: string): string {
  return JSON.stringify([model, name]);
}

/** The parts of a request that may be left out or replaced, the more specific ones first. */
function partsOf(body: RequestBody, { mode }: SearchRequest): readonly Part[] {
  const { tools = [], include, tool_choice: choice } = body;
  const isForced = typeof choice === 'object' && choice.type === tools[0]?.type;
  return [
    ...tools.filter(({ type }) => type === 'function').map((tool) => toFunction(tool, tools)),
    ...(typeof mode === 'object' && mode.web === 'closed' && isClosed(body) ? [CLOSED_WEB] : []),
    ...(include?.includes(ENCRYPTED_REASONING) ? [REASONING] : []),
    ...(isForced ? [FORCED_SEARCH] : []),
    ...[...OPTIONAL, STREAM].flatMap((path) => toOptional(path, body)),
    // Without it, an answer that may take minutes ends with its call.
    ...(mode === 'background' ? toOptional('background', body).map((part) => toBackground(part, body)) : []),
  ];
}

/** Background mode, which an API can refuse because it may not store the response. */
function toBackground(part: Part, body: RequestBody): Part {
  return {
    ...part,
    isMeantBy: (rejection) => part.isMeantBy(rejection) || isAboutStore(body, rejection),
    warning: (model, rejection) => {
      const condition = isAboutStore(body, rejection) ? ' without openai.store: true' : '';
      return `openai(client): ${model} rejected background${condition}; it is omitted from now on`;
    },
  };
}

/** Whether an API refuses background mode because it may not store the response. */
export function isAboutStore({ background, store }: RequestBody, { param, message }: Rejection): boolean {
  return background === true && store === false && /\bstor(?:e|age|ed|ing)\b/.test(`${param} ${message}`);
}

function toFunction({ name }: RequestTool, tools: readonly RequestTool[]): Part {
  return {
    name: `function ${name}`,
    isMeantBy: ({ param, message }) => {
      const named = /Invalid schema for function '([^']+)'/.exec(message)?.[1];
      const index = /\btools\[(\d+)\]/.exec(param || message)?.[1];
      return name === (named ?? tools[Number(index)]?.name);
    },
    omitFrom: (body) => withTools(body, (other) => other.name !== name),
    warning: (model) =>
      `grounding: the API rejected the schema of ${name} for ${model}; the tool is no longer offered to this model`,
  };
}

/** Removes the search tool, which closes the web, too. */
const CLOSED_WEB: Part = {
  name: 'closed web',
  isMeantBy: ({ param, message }) => /tool_choice|allowed_tools|external_web_access/.test(`${param} ${message}`),
  omitFrom: (body) => {
    const kept = withTools(body, ({ type }) => type === 'function');
    return kept.tool_choice === 'none' ? kept : without(kept, 'tool_choice');
  },
};

/** Removes the reasoning from `include`. The sources stay there. */
const REASONING: Part = {
  name: ENCRYPTED_REASONING,
  isMeantBy: ({ param, message }) =>
    /^include\b/.test(param) || (param === '' && /encrypted[_ ]content/i.test(message)),
  omitFrom: (body) => {
    const include = (body.include ?? []).filter((entry) => entry !== ENCRYPTED_REASONING);
    return include.length === 0 ? without(body, 'include') : { ...body, include };
  },
  warning: (model) => `openai(client): ${model} rejected include=${ENCRYPTED_REASONING}; it is omitted from now on`,
};

/** Replaces the choice of the search tool by `required`, because some servers know only this. */
const FORCED_SEARCH: Part = {
  name: 'tool_choice',
  isMeantBy: ({ param }) => param.startsWith('tool_choice'),
  omitFrom: (body) => ({ ...body, tool_choice: 'required' }),
  warning: (model) =>
    `openai(client): ${model} rejected a forced search tool; tool_choice=required is sent from now on`,
};

/** The part at a path; empty if the request does not have it. */
function toOptional(path: string, body: RequestBody): readonly Part[] {
  const [name = '', member] = path.split('.');
  const parent = name === 'tools' ? body.tools?.[0] : body[name];
  if ((member === undefined ? parent : asObject(parent)?.[member]) === undefined) return [];
  const omitFrom = (body: RequestBody): RequestBody => {
    if (member === undefined) return without(body, name);
    if (name === 'tools') return { ...body, tools: (body.tools ?? []).map((tool) => without(tool, member)) };
    const others = without(asObject(body[name]) ?? {}, member);
    return Object.keys(others).length === 0 ? without(body, name) : { ...body, [name]: others };
  };
  const value = member === undefined ? parent : asObject(parent)?.[member];
  const isMeantBy = ({ param }: Rejection) => {
    // Validators name the kind of a tool within the path: `tools.0.web_search.user_location`.
    const [first, ...steps] = param.split(/[.[\]\d]+/);
    return first === name && (member === undefined || steps.includes(member));
  };
  const warning = (model: string, { param }: Rejection) =>
    `openai(client): ${model} rejected ${param}; it is omitted from now on`;
  return [{ name: path, isMeantBy, words: { path, value }, omitFrom, warning }];
}

/** Whether the search tool is offered without live access. */
export function isClosed({ tools = [] }: RequestBody): boolean {
  return tools.some((tool) => tool.external_web_access === false);
}

function without<T extends JsonObject>(object: T, name: string): T {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)) as T;
}

/** Removes tools, also from the allowed ones. Without allowed tools, nothing may be called; without tools, there is no choice. */
function withTools(body: RequestBody, isKept: (tool: RequestTool) => boolean): RequestBody {
  const tools = (body.tools ?? []).filter(isKept);
  if (tools.length === 0) return without(without(body, 'tools'), 'tool_choice');
  const { tool_choice: choice } = body;
  if (typeof choice !== 'object' || choice.tools === undefined) return { ...body, tools };
  const allowed = choice.tools.filter((allowed) => tools.some(({ name }) => name === allowed.name));
  return { ...body, tools, tool_choice: allowed.length === 0 ? 'none' : { ...choice, tools: allowed } };
}
