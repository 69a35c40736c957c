import type { Logger } from '../../../application/ports/logger.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import type { RequestBody } from './api-types.ts';
import { ENCRYPTED_REASONING } from './turn-body.ts';

/** A parameter that the API rejected in a request. */
export interface Rejection {
  /** As the API names it: `reasoning.effort`, `tools[0].user_location`; empty if only the message says what was rejected. */
  readonly param: string;
  /** True if the model does not support the parameter, false if it may accept other values. */
  readonly isParameter: boolean;
  /** The API's message. */
  readonly message: string;
}

/** May be omitted if a model rejects them. Not `store` and the domain filter: a user who sets them wants no answer without. */
const OPTIONAL_PARAMETERS = ['reasoning', 'text', 'include', 'max_output_tokens', 'max_tool_calls', 'service_tier'];
const OPTIONAL_TOOL_OPTIONS = ['search_context_size', 'user_location', 'return_token_budget'];
/** Rejected on its own, the other is kept (ruling A5). */
const REASONING_MEMBERS = ['reasoning.effort', 'reasoning.mode'];
/** A forced search tool: servers may know only `required` (ruling A4). */
const FORCED_TOOL = 'tool_choice';

/** Remembers, per model, which optional parameters and values the API rejected, so that they are not sent again. */
export class RejectedParameters {
  readonly #logger: Logger;
  /** `model`, `parameter` and, unless every value is rejected, the value as JSON. */
  readonly #rejected = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The body without parameters that its model is known to reject. */
  omitFrom(body: RequestBody): RequestBody {
    if (this.#rejected.size === 0) return body;
    const isRejected = (name: string) =>
      this.#rejected.has(keyOf(body, name)) || this.#rejected.has(keyOf(body, name, currentValue(body, name)));
    const names = [...OPTIONAL_PARAMETERS, ...OPTIONAL_TOOL_OPTIONS, ...REASONING_MEMBERS];
    const kept = names.filter(isRejected).reduce(without, body);
    const steps = [ENCRYPTED_REASONING, FORCED_TOOL] as const;
    return steps
      .filter((step) => this.#rejected.has(keyOf(body, step)))
      .reduce((left, step) => ADAPTATIONS[step](left), kept);
  }

  #adapt(body: RequestBody, step: Adaptation): RequestBody {
    const key = keyOf(body, step);
    if (!this.#rejected.has(key)) {
      this.#logger.warn(`openai(client): ${body.model} rejected ${CONSEQUENCES[step]} from now on`);
    }
    this.#rejected.add(key);
    return ADAPTATIONS[step](body);
  }

  /** Remembers a rejection. Returns the body without the parameter, or undefined if it cannot be omitted (ruling 12). */
  add(body: RequestBody, { param, isParameter }: Rejection): RequestBody | undefined {
    const step = adaptationFor(param, body);
    if (step !== undefined) return this.#adapt(body, step);
    const omitted = optionalName(param, body);
    const value = omitted && currentValue(body, omitted);
    if (omitted === undefined || value === undefined) return undefined;
    const key = isParameter ? keyOf(body, omitted) : keyOf(body, omitted, value);
    // Concurrent calls get the same rejection: it is logged once.
    if (!this.#rejected.has(key)) {
      const member = isObject(value) ? value[param.split('.').at(-1) ?? ''] : undefined;
      const rejected = isParameter ? param : `${param}=${JSON.stringify(member ?? value)}`;
      this.#logger.warn(`openai(client): ${body.model} rejected ${rejected}; it is omitted from now on`);
    }
    this.#rejected.add(key);
    return without(body, omitted);
  }
}

/** Rejections after which a part of a parameter is changed, and the rest is kept. */
const ADAPTATIONS = {
  /** The sources stay in `include`. */
  [ENCRYPTED_REASONING]: (body: RequestBody): RequestBody => {
    const include = (body.include ?? []).filter((entry) => entry !== ENCRYPTED_REASONING);
    return include.length === 0 ? without(body, 'include') : { ...body, include };
  },
  [FORCED_TOOL]: (body: RequestBody): RequestBody => (isForced(body) ? { ...body, tool_choice: 'required' } : body),
};

type Adaptation = keyof typeof ADAPTATIONS;

const CONSEQUENCES: Readonly<Record<Adaptation, string>> = {
  [ENCRYPTED_REASONING]: `include=${ENCRYPTED_REASONING}; it is omitted`,
  [FORCED_TOOL]: `a forced search tool; tool_choice=required is sent`,
};

function adaptationFor(param: string, body: RequestBody): Adaptation | undefined {
  if (/^include\b/.test(param) && body.include?.includes(ENCRYPTED_REASONING)) return ENCRYPTED_REASONING;
  return param.startsWith(FORCED_TOOL) && isForced(body) ? FORCED_TOOL : undefined;
}

/** What can be omitted because of the rejection of a parameter: `reasoning.effort`, `text` for `text.verbosity`. */
function optionalName(param: string, body: RequestBody): string | undefined {
  const member = REASONING_MEMBERS.find((name) => name === param && currentValue(body, name) !== undefined);
  const [name = '', option = ''] = param.split(/[.[\]\d]+/);
  const isOption = name === 'tools' && OPTIONAL_TOOL_OPTIONS.includes(option);
  return member ?? (isOption ? option : OPTIONAL_PARAMETERS.find((optional) => optional === name));
}

/** The model is forced to use the search tool. */
function isForced({ tool_choice: choice, tools }: RequestBody): boolean {
  const type = isObject(choice) ? choice.type : undefined;
  return type !== undefined && type === tools?.[0]?.type;
}

function keyOf({ model }: RequestBody, name: string, value?: unknown): string {
  return JSON.stringify(value === undefined ? [model, name] : [model, name, value]);
}

/** The value of a parameter, of a member of `reasoning`, or of an option of the search tool. */
function currentValue(body: RequestBody, name: string): unknown {
  const [, member] = name.split('.');
  if (member !== undefined) return body.reasoning?.[member as keyof typeof body.reasoning];
  return { ...body.tools?.[0], ...body }[name as keyof RequestBody];
}

function without(body: RequestBody, name: string): RequestBody {
  const [, member] = name.split('.');
  if (member !== undefined) {
    const { [member]: _, ...kept } = (body.reasoning ?? {}) as JsonObject;
    const { reasoning: __, ...others } = body;
    return (Object.keys(kept).length === 0 ? others : { ...others, reasoning: kept }) as RequestBody;
  }
  const omit = ({ [name]: _, ...rest }: JsonObject) => rest;
  const { tools, ...rest } = body as unknown as { readonly tools?: readonly JsonObject[] };
  return { ...omit(rest), ...(tools && { tools: tools.map(omit) }) } as unknown as RequestBody;
}
