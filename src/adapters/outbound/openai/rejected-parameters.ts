import type { Logger } from '../../../application/ports/logger.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import type { RequestBody } from './request-body.ts';
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
const OPTIONAL_PARAMETERS = ['reasoning', 'text', 'include', 'max_output_tokens', 'max_tool_calls'];
const OPTIONAL_TOOL_OPTIONS = ['search_context_size', 'user_location'];

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
    const kept = [...OPTIONAL_PARAMETERS, ...OPTIONAL_TOOL_OPTIONS].filter(isRejected).reduce(without, body);
    return this.#rejected.has(keyOf(body, ENCRYPTED_REASONING)) ? withoutEncrypted(kept) : kept;
  }

  /** The sources stay: only the entry for conversations is omitted. */
  #addEncrypted(body: RequestBody): RequestBody {
    const key = keyOf(body, ENCRYPTED_REASONING);
    if (!this.#rejected.has(key)) {
      this.#logger.warn(
        `openai(client): ${body.model} rejected include=${ENCRYPTED_REASONING}; it is omitted from now on`,
      );
    }
    this.#rejected.add(key);
    return withoutEncrypted(body);
  }

  /** Remembers a rejection. Returns the body without the parameter, or undefined if it cannot be omitted (ruling 12). */
  add(body: RequestBody, { param, isParameter }: Rejection): RequestBody | undefined {
    if (/^include\b/.test(param) && body.include?.includes(ENCRYPTED_REASONING)) return this.#addEncrypted(body);
    const [name = '', option = ''] = param.split(/[.[\]\d]+/);
    const isOption = name === 'tools' && OPTIONAL_TOOL_OPTIONS.includes(option);
    const omitted = isOption ? option : OPTIONAL_PARAMETERS.find((optional) => optional === name);
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

function withoutEncrypted(body: RequestBody): RequestBody {
  const include = (body.include ?? []).filter((entry) => entry !== ENCRYPTED_REASONING);
  return include.length === 0 ? without(body, 'include') : { ...body, include };
}

function keyOf({ model }: RequestBody, name: string, value?: unknown): string {
  return JSON.stringify(value === undefined ? [model, name] : [model, name, value]);
}

/** The value of a parameter, or of an option of the search tool. */
function currentValue(body: RequestBody, name: string): unknown {
  return { ...body.tools?.[0], ...body }[name as keyof RequestBody];
}

function without(body: RequestBody, name: string): RequestBody {
  const omit = ({ [name]: _, ...rest }: JsonObject) => rest;
  const { tools, ...rest } = body as unknown as { readonly tools?: readonly JsonObject[] };
  return { ...omit(rest), ...(tools && { tools: tools.map(omit) }) } as unknown as RequestBody;
}
