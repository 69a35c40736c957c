import type { JsonObject } from './api-response.ts';

/** What a back end does not accept, in addition to what the API never accepts. */
export interface BackEnd {
  /** A tool that has `external_web_access`. */
  readonly refusesExternalWebAccess?: boolean;
  /** `tool_choice` of the type `allowed_tools`. */
  readonly refusesAllowedTools?: boolean;
  /** `reasoning.encrypted_content`, as models without reasoning do. */
  readonly refusesEncryptedContent?: boolean;
  /** The functions whose schemas it does not accept. */
  readonly refusedFunctions?: readonly string[];
}

interface Refusal {
  readonly param: string;
  readonly message: string;
}

const INCLUDABLE = ['web_search_call.action.sources', 'reasoning.encrypted_content'];
/** The items that a model writes after reasoning. */
const FOLLOWING = ['function_call', 'web_search_call', 'message', 'reasoning'];

/** The error of the API for a request that it does not accept, in its words; undefined if it accepts the request. */
export function refusalOf(body: JsonObject, backEnd: BackEnd): Refusal | undefined {
  return [...toolProblems(body, backEnd), ...optionProblems(body, backEnd), ...inputProblems(body)][0];
}

function* toolProblems({ tools }: JsonObject, backEnd: BackEnd): Generator<Refusal> {
  for (const [index, { type, name, external_web_access: access }] of objects(tools).entries()) {
    if (backEnd.refusesExternalWebAccess === true && access !== undefined)
      yield unknownParameter(`tools[${index}].external_web_access`);
    if (type === 'function' && backEnd.refusedFunctions?.includes(String(name)) === true)
      yield { param: `tools[${index}].parameters`, message: `Invalid schema for function '${String(name)}': no.` };
  }
}

function* optionProblems({ tools, tool_choice: choice, include }: JsonObject, backEnd: BackEnd): Generator<Refusal> {
  const declared = objects(tools);
  if (choice !== undefined && declared.length === 0)
    yield { param: 'tool_choice', message: "'tool_choice' is only allowed when 'tools' are specified." };
  if (choice !== undefined && typeof choice !== 'string') {
    if (backEnd.refusesAllowedTools === true)
      yield { param: 'tool_choice', message: "Invalid value: 'allowed_tools'." };
    const allowed = objects(object(choice).tools);
    const isDeclared = ({ type, name }: JsonObject) =>
      declared.some((tool) => tool.type === type && tool.name === name);
    if (allowed.length === 0)
      yield { param: 'tool_choice.tools', message: "Invalid 'tool_choice.tools': empty array." };
    if (!allowed.every(isDeclared))
      yield { param: 'tool_choice', message: "Tool choice not found in 'tools' parameter." };
  }
  for (const [index, value] of (Array.isArray(include) ? include : []).entries()) {
    if (!INCLUDABLE.includes(value))
      yield { param: `include[${index}]`, message: `Invalid value: '${String(value)}'.` };
    if (backEnd.refusesEncryptedContent === true && value === 'reasoning.encrypted_content')
      yield { param: 'include', message: 'Encrypted content is not supported with this model.' };
  }
}

function* inputProblems({ input }: JsonObject): Generator<Refusal> {
  const items = objects(input);
  const refuses = (message: string): Refusal => ({ param: 'input', message });
  for (const [index, { type, id, action, encrypted_content: encrypted }] of items.entries()) {
    if (type === 'web_search_call' && object(action).sources !== undefined)
      yield unknownParameter(`input[${index}].action.sources`);
    if (type !== 'reasoning') continue;
    if (encrypted === undefined)
      yield refuses(`Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`);
    if (!FOLLOWING.includes(String(items[index + 1]?.type)))
      yield refuses(`Item '${id}' of type 'reasoning' was provided without its required following item.`);
  }
  const ids = (type: string) => items.filter((item) => item.type === type).map((item) => item.call_id);
  const [called, answered] = [ids('function_call'), ids('function_call_output')];
  const orphan = answered.find((id) => !called.includes(id));
  if (orphan !== undefined) yield refuses(`No tool call found for function call output with call_id ${orphan}.`);
  const open = called.find((id) => !answered.includes(id));
  if (open !== undefined) yield refuses(`No tool output found for function call ${open}.`);
  const known = items.map(({ id }) => id).filter((id) => id !== undefined);
  const twice = known.find((id, index) => known.indexOf(id) !== index);
  if (twice !== undefined)
    yield refuses(`Duplicate item found with id ${twice}. Remove duplicate items from your input and try again.`);
}

const unknownParameter = (param: string): Refusal => ({ param, message: `Unknown parameter: '${param}'.` });

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function object(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
