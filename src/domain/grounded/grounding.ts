import { LOCAL_CALLER, type Rights } from '../gateway/call-origin.ts';
import { type GatewayTool, isReadOnly } from '../gateway/gateway-tool.ts';
import { functionNames } from '../gateway/unique-names.ts';
import { clip } from '../values/clean-text.ts';
import type { JsonObject } from '../values/json.ts';
import { toFunctionSchema } from './function-schema.ts';

/** How answers use the tools of the user's own servers. */
export interface GroundingPolicy {
  /** By server: the names of the tools, or `all` for those that only read. */
  readonly tools: Readonly<Record<string, readonly string[] | 'all'>>;
  /** When the model may search the web: until a private tool has answered, always, or never beside own tools. */
  readonly web: 'before' | 'always' | 'never';
  /** Maximum number of requests to the API for an answer, and of calls of own tools. */
  readonly maxRounds: number;
  readonly maxCalls: number;
  /** Maximum length of the output of a call. All outputs of an answer together may be ten times as long. */
  readonly maxOutputChars: number;
  /** Callers over HTTP that may use own tools. */
  readonly callers: readonly string[];
}

/** Whether answers over HTTP never use own tools, although there are some: without tokens, every caller is `local`. */
export function servesNoCaller({ tools, callers }: GroundingPolicy, requiresToken: boolean): boolean {
  if (Object.keys(tools).length === 0) return false;
  return requiresToken ? callers.length === 0 : !callers.includes(LOCAL_CALLER);
}

/** A tool as it is offered to the model. */
export interface OfferedFunction {
  /** Unique, and accepted by the API. */
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly tool: GatewayTool;
}

/** The API accepts 128 tools, of which one is the search. */
export const MAX_FUNCTIONS = 127;
/** The number of functions above which a notice appears, because OpenAI recommends fewer. */
export const RECOMMENDED_FUNCTIONS = 20;

/** The functions for the tools of available servers, and the tools whose schema is too large, as `server/tool`. */
export function toOffer(tools: readonly GatewayTool[], policy: GroundingPolicy) {
  const chosen = tools.filter((tool) => isOffered(tool, policy));
  const names = functionNames(chosen);
  const tooLarge: string[] = [];
  const functions = chosen.flatMap((tool, index): readonly OfferedFunction[] => {
    const { parameters, note } = toFunctionSchema(tool.inputSchema) ?? {};
    if (parameters !== undefined)
      return [{ name: names[index] ?? '', description: describe(tool, note), parameters, tool }];
    tooLarge.push(`${tool.server}/${tool.name}`);
    return [];
  });
  // Sorted, so that each request has the same bytes and can be cached.
  functions.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { functions, tooLarge };
}

/** The listed tools, as `server/tool`, that their available servers do not have. */
export function unknownTools(
  { tools }: GroundingPolicy,
  known: readonly GatewayTool[],
  unavailable: readonly string[],
) {
  const names = new Set(known.map(({ server, name }) => `${server}/${name}`));
  return Object.entries(tools)
    .filter(([server]) => !unavailable.includes(server))
    .flatMap(([server, list]) => (list === 'all' ? [] : list.map((name) => `${server}/${name}`)))
    .filter((name) => !names.has(name));
}

/** A tool with effects is offered only if its name is listed. */
function isOffered(tool: GatewayTool, { tools }: GroundingPolicy): boolean {
  const list = Object.hasOwn(tools, tool.server) ? tools[tool.server] : undefined;
  if (list === undefined) return false;
  return list === 'all' ? isReadOnly(tool) : list.includes(tool.name);
}

/** Whether a tool with effects may be offered. A listed tool counts as one until its server has declared its hints. */
export function mayHaveEffects({ tools }: GroundingPolicy, known: readonly GatewayTool[], rights: Rights): boolean {
  return Object.entries(tools).some(([server, list]) => {
    if (list === 'all') return false;
    return list.some((name) => {
      const tool = known.find((tool) => tool.server === server && tool.name === name);
      return rights.mayUse(tool ?? { server, name }) && (tool === undefined || !isReadOnly(tool));
    });
  });
}

const MAX_DESCRIPTION = 1024;

/** The description for the model. A long description is cut, but never the note about the schema. */
function describe({ name, title, description }: GatewayTool, note = ''): string {
  const text = description || (title ?? name);
  const ending = note === '' ? '' : `\n${note}`;
  return `${clip(text, MAX_DESCRIPTION - ending.length)}${ending}`.toWellFormed();
}
