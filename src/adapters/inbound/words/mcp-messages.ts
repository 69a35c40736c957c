import { cleanText } from '../../../domain/values/clean-text.ts';
import { excerpt } from './plain.ts';

const CHOICE =
  ' Choose answer for most questions, answer_quick for simple facts that should come fast, answer_detailed for research, comparisons and long explanations (it may take minutes).';

/** Texts that MCP clients show, or give to their models. */
export const MCP = {
  /** `hasAll`: the client may use all answer tools. */
  instructions: (hasAll: boolean) =>
    `Answers questions with current web sources.${hasAll ? CHOICE : ''}
Ask in complete sentences, one topic per call, in the user's language. Do not add a year or date to the query; the server supplies today's date.
The result is {answer, used_search, citations[], model}; pass the sources on to the user.`,
  sameId: (id: string | number) => `Invalid Request: a request with id ${JSON.stringify(id)} is still in flight`,
  shuttingDown: 'The server is shutting down; ask again.',
};

/** Texts about the tools that find and call other tools. */
export const SEARCH = {
  instructions:
    'Not all tools of the connected servers may be listed: find_tools finds tools by what they do, read_tool and call_tool call them.',
  unknownTool: (name: string) =>
    cleanText(`TOOL_NOT_FOUND: There is no tool ${JSON.stringify(excerpt(name))}. Use find_tools to find the name.`),
  wrong: (argument: string, accepted: string) => `VALIDATION_ERROR: ${argument}: expected ${accepted}.`,
};
