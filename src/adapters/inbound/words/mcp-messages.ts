import { excerpt } from './plain.ts';

/** What clients of MCP show, or give to their models. */
export const MCP = {
  instructions: [
    'Answers questions with current web sources. Choose answer for most questions, answer_quick for simple facts that should come fast, answer_detailed for research, comparisons and long explanations (it may take minutes).',
    "Ask in complete sentences, one topic per call, in the user's language. Do not add a year or date to the query; the server supplies today's date.",
    'The result is {answer, used_search, citations[], model}; pass the sources on to the user.',
  ].join('\n'),
  sameId: (id: string | number) => `Invalid Request: a request with id ${JSON.stringify(id)} is still in flight`,
  shuttingDown: 'The server is shutting down; ask again.',
  unknownTool: (name: string, known: readonly string[]) =>
    `There is no tool ${JSON.stringify(excerpt(name))}. The tools are ${known.join(', ')}.`,
};
