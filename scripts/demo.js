// npm run demo: starts the built server, asks it questions over MCP and prints the answers. Offline, unless --live asks the
// OpenAI API. --grounded asks one question, for which the model also searches the notes of the MCP server in examples/.
import { fileURLToPath } from 'node:url';
import { answerOf, runScript, startServer, within } from './lib/stdio-client.js';

const [option, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (option !== undefined && option !== '--live' && option !== '--grounded')) {
  console.error('Usage: npm run demo [-- --live | --grounded]');
  process.exit(2);
}
const isLive = option === '--live';
const isGrounded = option === '--grounded';
const example = (name) => fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
const LONGEST_CALL_MS = 300_000;

runScript(async () => {
  if (isLive && !process.env.OPENAI_API_KEY?.trim()) {
    throw new Error('--live asks the real API: set OPENAI_API_KEY to your key, or omit --live.');
  }
  const server = startServer(serverOptions());
  try {
    const { result } = await within(10_000, 'initialize', server.initialize());
    const { name, version } = result.serverInfo;
    console.log(`${name} ${version}, MCP ${result.protocolVersion}, over stdio`);
    console.log(isLive ? 'Live: answers from the OpenAI API.' : 'Offline: recorded answers; no key, no network.');
    if (isGrounded)
      console.log('The MCP server examples/notes.mjs really runs; only the replies of the model are recorded.');

    const listed = await within(10_000, 'tools/list', server.request('tools/list', {}));
    console.log('\nTools:');
    for (const tool of listed.result.tools) console.log(`  ${tool.name.padEnd(16)} ${tool.description}`);

    for (const [tool, query] of questions()) await ask(server, tool, query);

    const { code } = await within(5000, 'the end of input', server.close());
    if (code !== 0) throw new Error(`The server ended with exit code ${code}.`);
    const count = questions().length === 1 ? 'The question was' : `All ${questions().length} questions were`;
    console.log(`${RULE}\n${count} answered. The server has shut down.`);
    if (isGrounded) console.log('With the OpenAI API, and with your own servers: docs/grounded-answers.md');
    else if (!isLive) console.log('With the OpenAI API: OPENAI_API_KEY=... npm run demo -- --live');
  } finally {
    server.child.kill('SIGKILL');
  }
});

const RULE = '─'.repeat(80);

function serverOptions() {
  if (isLive) return { env: { ...process.env, LLM_ADAPTER: 'openai' } };
  return isGrounded
    ? { args: ['--stdio', `--offline=${example('grounded.sse')}`, `--config=${example('grounded.yaml')}`] }
    : { args: ['--stdio', '--offline'] };
}

/** The questions. Offline, they and their day are the recorded ones. */
function questions() {
  if (isGrounded) return [['answer', 'When do we deploy next week, and is that day a public holiday in Japan?']];
  const day = isLive ? new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Tokyo' }).format(new Date()) : '2026-11-20';
  return [
    ['answer', `What is the weather in Tokyo today, ${day}?`],
    ['answer', `本日 ${day} の東京の天気は？`],
    ['answer', 'What does HTTP 404 mean?'],
    ['answer_detailed', 'Compare HTTP/2 and HTTP/3'],
    ['answer_quick', 'What is the latest MCP specification revision?'],
  ];
}

async function ask(server, tool, query) {
  const startedAt = performance.now();
  const meta = isGrounded ? { _meta: { progressToken: query } } : {};
  const call = { name: tool, arguments: { query }, ...meta };
  const response = await within(LONGEST_CALL_MS, query, server.request('tools/call', call));
  const answer = answerOf(response);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2);

  console.log(`\n${RULE}\n${query}`);
  const searched = answer.used_search ? 'searched the web' : 'no search needed';
  console.log(`${tool}, ${answer.model}, ${seconds} s, ${searched}\n${RULE}\n`);
  if (isGrounded) printRounds(server, response.result._meta);
  console.log(answer.answer);
}

/** Prints the progress of a grounded answer, and its rounds, searches and calls. */
function printRounds(server, meta) {
  for (const { params } of server.notifications.filter(({ method }) => method === 'notifications/progress')) {
    for (const step of params.message.split(' · ')) console.log(`... ${step}`);
  }
  const [report] = Object.values(meta);
  const calls = report.tool_calls.map(({ server, tool }) => `${server}/${tool}`).join(', ');
  console.log(`\n${report.rounds} rounds, ${report.searches.count} search of the web, calls of own tools: ${calls}\n`);
}
