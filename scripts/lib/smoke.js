// The smoke test, with any framing and adapter.
import { setTimeout as wait } from 'node:timers/promises';
import { answerOf, startServer, within } from './stdio-client.js';

/** How long the server is kept running after the calls (spec 10). */
const BEFORE_KILL_MS = 4000;

/**
 * initialize, tools/list, and a call of each tool. Prints every response; fails if one is missing or is an error.
 *
 * @param {{ args?: string[], framing: 'framed' | 'line', timeoutMs: number }} options
 */
export async function smoke({ args = [], framing, timeoutMs }) {
  const server = startServer({ args, framing });
  try {
    show('initialize', await within(timeoutMs, 'initialize', server.initialize()));
    show('tools/list', await within(timeoutMs, 'tools/list', server.request('tools/list', {})));
    for (const [tool, query] of QUESTIONS) {
      const response = await within(timeoutMs, `tools/call ${tool}`, server.callTool(tool, { query }));
      show(`tools/call ${tool}`, response);
      answerOf(response);
    }
    await wait(BEFORE_KILL_MS);
  } finally {
    server.child.kill();
  }
  await server.exited;
  console.log(`OK: initialize, tools/list and ${QUESTIONS.length} tools/call were answered (${framing}).`);
}

const QUESTIONS = [
  ['answer', 'HTTP 404 の意味は？'],
  ['answer_detailed', 'Compare HTTP/2 and HTTP/3'],
  ['answer_quick', 'What is the capital of Australia?'],
];

function show(title, response) {
  console.log(`--- ${title}\n${JSON.stringify(response)}\n`);
  if (response.error) throw new Error(`${title}: ${response.error.data?.message ?? response.error.message}`);
}
