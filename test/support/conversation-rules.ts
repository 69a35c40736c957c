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

const MAX_TEXT = 10_485_760;
const INCLUDABLE = ['web_search_call.action.sources', 'reasoning.encrypted_content'];

/** The error of the API for a request that it does not accept, in its words; undefined if it accepts the request. */
export function refusalOf(body: JsonObject, backEnd: BackEnd = {}): Behaviour | undefined {
  for (const problemsOf of [toolProblems, optionProblems, inputProblems]) {
    const { value } = problemsOf(body, backEnd).next();
    if (value !== undefined) return value;
  }
  return undefined;
}

type Problems = Generator<Behaviour, undefined>;

function* toolProblems({ tools }: JsonObject, { refusesExternalWebAccess, refusedFunctions = [] }: BackEnd): Problems {
  if (objects(tools).length > 128) yield refuses('tools', "Invalid 'tools': array too long.", 'array_above_max_length');
  for (const [index, tool] of objects(tools).entries()) {
    const at = `tools[${index}]`;
    const isWeb = tool.type === 'web_search';
    if (isWeb && refusesExternalWebAccess === true && tool.external_web_access !== undefined)
      yield unknownParameter(`${at}.external_web_access`);
    if (isWeb) continue;
    if (tool.type !== 'function')
      yield refuses(`${at}.type`, `Invalid value: '${String(tool.type)}'.`, 'invalid_value');
    const name = String(tool.name);
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) yield refuses(`${at}.name`, `Invalid '${at}.name'.`, 'invalid_value');
    if (typeof tool.strict !== 'boolean') yield refuses(`${at}.strict`, `Invalid type for '${at}.strict'.`);
    const problem = refusedFunctions.includes(name)
      ? "In context=('properties', 'data'), 'allOf' is not permitted."
      : schemaProblem(tool.parameters);
    const words = `Invalid schema for function '${name}': ${problem}`;
    if (problem !== undefined) yield refuses(`${at}.parameters`, words, 'invalid_function_parameters');
  }
  return undefined;
}

function schemaProblem(schema: unknown): string | undefined {
  const parameters = object(schema);
  if (parameters.type !== 'object') return `schema must be a JSON Schema of 'type: "object"'.`;
  if (['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some((key) => key in parameters))
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  if (parameters.properties === undefined) return 'In context=(), object schema missing properties.';
  return hasArrayWithoutItems(schema) ? 'In context=(), array schema missing items.' : undefined;
}

function hasArrayWithoutItems(schema: unknown): boolean {
  const { type, items, properties } = object(schema);
  return (type === 'array' && items === undefined) || Object.values(object(properties)).some(hasArrayWithoutItems);
}

function* optionProblems(body: JsonObject, { refusesAllowedTools, refusesEncryptedContent }: BackEnd): Problems {
  const { tool_choice: choice, include, previous_response_id: previous } = body;
  const tools = objects(body.tools);
  if (choice !== undefined && tools.length === 0)
    yield refuses('tool_choice', "'tool_choice' is only allowed when 'tools' are specified.");
  if (choice !== undefined && typeof choice !== 'string') {
    if (refusesAllowedTools === true) yield refuses('tool_choice', "Invalid value: 'allowed_tools'.", 'invalid_value');
    const allowed = objects(object(choice).tools);
    if (allowed.length === 0)
      yield refuses('tool_choice.tools', "Invalid 'tool_choice.tools': empty array.", 'empty_array');
    const isDeclared = ({ type, name }: JsonObject) => tools.some((tool) => tool.type === type && tool.name === name);
    if (!allowed.every(isDeclared)) yield refuses('tool_choice', "Tool choice not found in 'tools' parameter.");
  }
  for (const [index, value] of (Array.isArray(include) ? include : []).entries()) {
    if (!INCLUDABLE.includes(value))
      yield refuses(`include[${index}]`, `Invalid value: '${String(value)}'.`, 'invalid_value');
    if (refusesEncryptedContent === true && value === 'reasoning.encrypted_content')
      yield refuses('include', 'Encrypted content is not supported with this model.');
  }
  const words = `Previous response with id '${String(previous)}' not found.`;
  if (previous !== undefined) yield refuses('previous_response_id', words, 'previous_response_not_found');
  return undefined;
}

function* inputProblems(body: JsonObject, { protectsSearches }: BackEnd): Problems {
  const items = objects(body.input);
  for (const [index, item] of items.entries()) {
    if (item.type === 'web_search_call' && object(item.action).sources !== undefined)
      yield unknownParameter(`input[${index}].action.sources`);
    if (typeof item.output === 'string' && item.output.length > MAX_TEXT)
      yield refuses(`input[${index}].output`, 'string too long.', 'string_above_max_length');
    if (item.type !== 'reasoning') continue;
    const id = String(item.id);
    const absent = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
    if (item.encrypted_content === undefined && body.store !== true) yield refuses('input', absent, null, 404);
    if (!FOLLOWING.has(String(items[index + 1]?.type)))
      yield refuses('input', `Item '${id}' of type 'reasoning' was provided without its required following item.`);
  }
  const ids = (type: string) => items.filter((item) => item.type === type).map((item) => item.call_id);
  const [called, answered] = [ids('function_call'), ids('function_call_output')];
  const orphan = answered.find((id) => !called.includes(id));
  if (orphan !== undefined)
    yield refuses('input', `No tool call found for function call output with call_id ${String(orphan)}.`);
  const open = called.find((id) => !answered.includes(id));
  if (open !== undefined) yield refuses('input', `No tool output found for function call ${String(open)}.`);
  const known = items.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  const twice = known.find((id, index) => known.indexOf(id) !== index);
  const remove = 'Remove duplicate items from your input and try again.';
  if (twice !== undefined) yield refuses('input', `Duplicate item found with id ${twice}. ${remove}`);
  const has = (list: unknown, type: string) => objects(list).some((one) => one.type === type);
  if (protectsSearches === true && has(items, 'web_search_call') && !has(body.tools, 'web_search'))
    yield failsInStream({ code: 'internal_error', message: 'response protection is unavailable', only: 'error' });
  return undefined;
}

/** The items that a model writes after reasoning. */
const FOLLOWING = new Set(['function_call', 'web_search_call', 'message', 'reasoning']);

const unknownParameter = (param: string) => refuses(param, `Unknown parameter: '${param}'.`, 'unknown_parameter');

function refuses(param: string, message: string, code: string | null = null, status = 400): Behaviour {
  return fails({ status, error: { message, type: 'invalid_request_error', param, code } });
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function object(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
