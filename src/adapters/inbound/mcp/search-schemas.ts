import type { Params } from './json-rpc.ts';
import { objectSchema } from './tool-schemas.ts';
import type { Tool } from './tool-set.ts';

/** The maximum number of tools that `find_tools` returns, which is also the default. */
export const MAX_FOUND = 5;

const TEXT = { type: 'string' };
const OBJECT = { type: 'object' };
const listOf = (items: Params, description: string) => ({ type: 'array', items, description });

const query = { ...TEXT, description: 'what the tool does, and its subject: "create issue"; "" lists the servers' };
const range = { minimum: 1, maximum: MAX_FOUND, default: MAX_FOUND };
const limit = { type: 'integer', ...range, description: 'maximum number of tools' };
const QUERY = objectSchema({ query, limit }, 'query');

const definition = { name: TEXT, description: TEXT, inputSchema: OBJECT, annotations: OBJECT };
const server = objectSchema({ name: TEXT, tools: { type: 'integer' } });
const found = {
  tools: listOf(objectSchema(definition, 'name', 'inputSchema'), 'definitions, the best match first'),
  matches: { type: 'integer', description: 'how many tools match' },
  servers: listOf(server, 'after an empty query: how many tools each has'),
};
const FOUND = objectSchema(found, 'tools', 'matches');

const call = {
  name: { ...TEXT, description: 'the name that find_tools returned' },
  arguments: { ...OBJECT, description: "what the tool's inputSchema describes; default: {}" },
};
const CALL = objectSchema(call, 'name');

/** The tools that find and call others, together at most 3,000 bytes. */
export const SEARCH_TOOLS: readonly Tool[] = [
  {
    name: 'find_tools',
    title: 'Find tools',
    description:
      "Find tools of the connected servers by what they do, also before saying that something is not possible. Returns their definitions. Call a tool with read_tool if its annotations have readOnlyHint: true, otherwise with call_tool. Words are compared, not meanings: use the language of the tools' descriptions, usually English, and try other words.",
    inputSchema: QUERY,
    outputSchema: FOUND,
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'read_tool',
    title: 'Call a tool that only reads',
    description: 'Call a tool whose annotations have readOnlyHint: true. Returns the result of that tool.',
    inputSchema: CALL,
    annotations: { readOnlyHint: true },
  },
  {
    name: 'call_tool',
    title: 'Call a tool',
    description: 'Call any tool that find_tools returned; it may change something. Returns the result of that tool.',
    inputSchema: CALL,
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
];
