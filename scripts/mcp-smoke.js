// npm run mcp:smoke: the built server answers initialize, tools/list and a call of each tool in Content-Length frames, offline. --lines: in
// lines. --live: with the OpenAI API, which costs a little and requires OPENAI_API_KEY.
import { answerOf, runScript, startServer, within } from './lib/stdio-client.js';

const QUESTIONS = [
  ['answer', 'HTTP 404 の意味は？'],
  ['answer_detailed', 'Compare HTTP/2 and HTTP/3'],
  ['answer_quick', 'What is the capital of Australia?'],
];
const isLive = process.argv.includes('--live');
const framing = process.argv.includes('--lines') ? 'line' : 'framed';
const timeoutMs = isLive ? 300_000 : 15_000;

if (isLive && !process.env.OPENAI_API_KEY?.trim())
  console.log('Skipped: OPENAI_API_KEY is not set, and this script asks the OpenAI API.');
else runScript(smoke);

/** Prints every response; fails if one is missing or is an error. */
async function smoke() {
  const server = startServer({ args: isLive ? ['--stdio'] : ['--stdio', '--offline'], framing });
  try {
    show('initialize', await within(timeoutMs, 'initialize', server.initialize()));
    show('tools/list', await within(timeoutMs, 'tools/list', server.request('tools/list', {})));
    for (const [tool, query] of QUESTIONS) {
      const response = await within(timeoutMs, `tools/call ${tool}`, server.callTool(tool, { query }));
      show(`tools/call ${tool}`, response);
      answerOf(response);
    }
  } finally {
    server.child.kill();
  }
  await server.exited;
  console.log(`OK: initialize, tools/list and ${QUESTIONS.length} tools/call were answered (${framing}).`);
}

function show(title, response) {
  console.log(`--- ${title}\n${JSON.stringify(response)}\n`);
  if (response.error) throw new Error(`${title}: ${response.error.data?.message ?? response.error.message}`);
}
