import type { JsonObject } from './api-response.ts';
import { type Behaviour, fails, failsInStream } from './behaviours.ts';

/** What a back end does not accept, in addition to what the API never accepts. */
export interface BackEnd {
  /** A tool that has `external_web_access`. */
  readonly refusesExternalWebAccess?: boolean;
  /** `tool_choice` of the type `allowed_tools`. */
  readonly refusesAllowedTools?: boolean;
  /** `reasoning.encrypted_content`, as models without reasoning do. */
  readonly refusesEncryptedContent?: boolean;
  /** A history with a search in a request that does not declare `web_search`. */
  readonly protectsSearches?: boolean;
  /** The functions whose schemas it does not accept. */
  readonly refusedFunctions?: readonly string[];
}

const MAX_TOOLS = 128;
const MAX_NAME = 64;
const MAX_TEXT = 10_485_760;
const INCLUDABLE = [
  'web_search_call.action.sources',
  'web_search_call.results',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
];

/** The error of the API for a request that it does not accept, in its words; undefined if it accepts the request. */
export function refusalOf(body: JsonObject, backEnd: BackEnd = {}): Behaviour | undefined {
  return (
    toolsRefusal(body, backEnd) ??
    choiceRefusal(body, backEnd) ??
    includeRefusal(body, backEnd) ??
    (body.previous_response_id === undefined
      ? undefined
      : refuses(
          'previous_response_id',
          `Previous response with id '${String(body.previous_response_id)}' not found.`,
          'previous_response_not_found',
        )) ??
    inputRefusal(body, backEnd)
  );
}

function toolsRefusal(body: JsonObject, backEnd: BackEnd): Behaviour | undefined {
  const tools = objects(body.tools);
  if (tools.length > MAX_TOOLS) {
    const words = `Expected an array with maximum length ${MAX_TOOLS}, but got an array with length ${tools.length} instead.`;
    return refuses('tools', `Invalid 'tools': array too long. ${words}`, 'array_above_max_length');
  }
  for (const [index, tool] of tools.entries()) {
    const refusal = tool.type === 'function' ? functionRefusal(tool, index, backEnd) : webRefusal(tool, index, backEnd);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function webRefusal(tool: JsonObject, index: number, { refusesExternalWebAccess }: BackEnd): Behaviour | undefined {
  if (tool.type !== 'web_search') {
    return refuses(`tools[${index}].type`, `Invalid value: '${String(tool.type)}'.`, 'invalid_value');
  }
  if (refusesExternalWebAccess !== true || tool.external_web_access === undefined) return undefined;
  const param = `tools[${index}].external_web_access`;
  return refuses(param, `Unknown parameter: '${param}'.`, 'unknown_parameter');
}

function functionRefusal(tool: JsonObject, index: number, { refusedFunctions = [] }: BackEnd): Behaviour | undefined {
  const name = String(tool.name);
  const param = `tools[${index}].name`;
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
    const words = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
    return refuses(param, `Invalid '${param}': string does not match pattern. ${words}`, 'invalid_value');
  }
  if (name.length > MAX_NAME) {
    const words = `Expected a string with maximum length ${MAX_NAME}, but got a string with length ${name.length} instead.`;
    return refuses(param, `Invalid '${param}': string too long. ${words}`, 'string_above_max_length');
  }
  if (typeof tool.strict !== 'boolean') {
    return refuses(`tools[${index}].strict`, `Invalid type for 'tools[${index}].strict': expected a boolean.`, null);
  }
  const problem = refusedFunctions.includes(name)
    ? "In context=('properties', 'data'), 'allOf' is not permitted."
    : schemaProblem(tool.parameters);
  return problem === undefined
    ? undefined
    : refuses(
        `tools[${index}].parameters`,
        `Invalid schema for function '${name}': ${problem}`,
        'invalid_function_parameters',
      );
}

function schemaProblem(schema: unknown): string | undefined {
  const parameters = object(schema);
  if (parameters.type !== 'object') {
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(parameters.type ?? 'None')}"'.`;
  }
  if (['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some((key) => key in parameters)) {
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  }
  return parameters.properties === undefined
    ? 'In context=(), object schema missing properties.'
    : nestedProblem(schema);
}

function nestedProblem(schema: unknown, context: readonly string[] = []): string | undefined {
  if (Array.isArray(schema)) return undefined;
  const parameters = object(schema);
  if (parameters.type === 'array' && parameters.items === undefined) {
    return `In context=(${context.map((part) => `'${part}'`).join(', ')}), array schema missing items.`;
  }
  return Object.entries(object(parameters.properties))
    .map(([name, property]) => nestedProblem(property, [...context, 'properties', name]))
    .find((problem) => problem !== undefined);
}

function choiceRefusal(body: JsonObject, { refusesAllowedTools }: BackEnd): Behaviour | undefined {
  const { tool_choice: choice } = body;
  const tools = objects(body.tools);
  if (choice === undefined) return undefined;
  if (tools.length === 0) {
    const words = "'tool_choice' is only allowed when 'tools' are specified.";
    return refuses('tool_choice', `Invalid value for 'tool_choice': ${words}`, null);
  }
  if (typeof choice === 'string') return undefined;
  if (refusesAllowedTools === true) return refuses('tool_choice', "Invalid value: 'allowed_tools'.", 'invalid_value');
  const allowed = objects(object(choice).tools);
  if (allowed.length === 0) {
    const words = 'Expected an array with minimum length 1, but got an empty array instead.';
    return refuses('tool_choice.tools', `Invalid 'tool_choice.tools': empty array. ${words}`, 'empty_array');
  }
  const isDeclared = ({ type, name }: JsonObject) => tools.some((tool) => tool.type === type && tool.name === name);
  const unknown = allowed.find((tool) => !isDeclared(tool));
  return unknown === undefined
    ? undefined
    : refuses('tool_choice', `Tool choice '${String(unknown.name)}' not found in 'tools' parameter.`, null);
}

function includeRefusal({ include }: JsonObject, { refusesEncryptedContent }: BackEnd): Behaviour | undefined {
  for (const [index, value] of (Array.isArray(include) ? include : []).entries()) {
    if (!INCLUDABLE.includes(String(value))) {
      const words = `Invalid value: '${String(value)}'. Supported values are: ${INCLUDABLE.map((one) => `'${one}'`).join(', ')}.`;
      return refuses(`include[${index}]`, words, 'invalid_value');
    }
    if (refusesEncryptedContent === true && value === 'reasoning.encrypted_content') {
      return refuses('include', 'Encrypted content is not supported with this model.', null);
    }
  }
  return undefined;
}

function inputRefusal(body: JsonObject, { protectsSearches }: BackEnd): Behaviour | undefined {
  const items = objects(body.input);
  const ids = (type: string, key: string) => items.filter((item) => item.type === type).map((item) => item[key]);
  const called = ids('function_call', 'call_id');
  const answered = ids('function_call_output', 'call_id');
  for (const [index, item] of items.entries()) {
    const refusal = itemRefusal(item, items[index + 1], index, body.store === true);
    if (refusal !== undefined) return refusal;
  }
  const orphan = answered.find((id) => !called.includes(id));
  if (orphan !== undefined) {
    return refuses('input', `No tool call found for function call output with call_id ${String(orphan)}.`, null);
  }
  const open = called.find((id) => !answered.includes(id));
  if (open !== undefined) return refuses('input', `No tool output found for function call ${String(open)}.`, null);
  const known = items.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  const twice = known.find((id, index) => known.indexOf(id) !== index);
  if (twice !== undefined) {
    const words = 'Remove duplicate items from your input and try again.';
    return refuses('input', `Duplicate item found with id ${twice}. ${words}`, null);
  }
  const hasSearch = items.some(({ type }) => type === 'web_search_call');
  const isDeclared = objects(body.tools).some(({ type }) => type === 'web_search');
  return protectsSearches === true && hasSearch && !isDeclared
    ? failsInStream({ code: 'internal_error', message: 'response protection is unavailable', only: 'error' })
    : undefined;
}

function itemRefusal(
  item: JsonObject,
  next: JsonObject | undefined,
  index: number,
  isStored: boolean,
): Behaviour | undefined {
  const id = String(item.id);
  if (item.type === 'web_search_call' && object(item.action).sources !== undefined) {
    const param = `input[${index}].action.sources`;
    return refuses(param, `Unknown parameter: '${param}'.`, 'unknown_parameter');
  }
  if (typeof item.output === 'string' && item.output.length > MAX_TEXT) {
    const param = `input[${index}].output`;
    const words = `Expected a string with maximum length ${MAX_TEXT}, but got a string with length ${item.output.length} instead.`;
    return refuses(param, `Invalid '${param}': string too long. ${words}`, 'string_above_max_length');
  }
  if (item.type !== 'reasoning') return undefined;
  if (item.encrypted_content === undefined && !isStored) {
    const words = 'Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove';
    return refuses('input', `Item with id '${id}' not found. ${words} this item from your input.`, null, 404);
  }
  return FOLLOWING.has(String(next?.type))
    ? undefined
    : refuses('input', `Item '${id}' of type 'reasoning' was provided without its required following item.`, null);
}

/** The items that a model writes after reasoning. */
const FOLLOWING = new Set(['function_call', 'web_search_call', 'message', 'reasoning']);

function refuses(param: string, message: string, code: string | null, status = 400): Behaviour {
  return fails({ status, error: { message, type: 'invalid_request_error', param, code } });
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function object(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
