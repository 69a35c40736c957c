// npm run demo: starts the built server, asks it questions over MCP and prints the answers. Offline, unless --live asks the
// OpenAI API.
import { answerOf, runScript, startServer, within } from './lib/stdio-client.js';

const [option, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (option !== undefined && option !== '--live')) {
  console.error('Usage: npm run demo [-- --live]');
  process.exit(2);
}
const isLive = option === '--live';
const LONGEST_CALL_MS = 300_000;

runScript(async () => {
  if (isLive && !process.env.OPENAI_API_KEY?.trim()) {
    throw new Error('--live asks the real API: set OPENAI_API_KEY to your key, or omit --live.');
  }
  const server = startServer(isLive ? { env: { ...process.env, LLM_ADAPTER: 'openai' } } : { args: ['--offline'] });
  try {
    const { result } = await within(10_000, 'initialize', server.initialize());
    const { name, version } = result.serverInfo;
    console.log(`${name} ${version}, MCP ${result.protocolVersion}, over stdio`);
    console.log(isLive ? 'Live: answers from the OpenAI API.' : 'Offline: recorded answers; no key, no network.');

    const listed = await within(10_000, 'tools/list', server.request('tools/list', {}));
    console.log('\nTools:');
    for (const tool of listed.result.tools) console.log(`  ${tool.name.padEnd(16)} ${tool.description}`);

    for (const [tool, query] of questions()) await ask(server, tool, query);

    const { code } = await within(5000, 'the end of input', server.close());
    if (code !== 0) throw new Error(`The server ended with exit code ${code}.`);
    console.log(`${RULE}\nAll ${questions().length} questions were answered. The server has shut down.`);
    if (!isLive) console.log('With the OpenAI API: OPENAI_API_KEY=... npm run demo -- --live');
  } finally {
    server.child.kill('SIGKILL');
  }
});

const RULE = '─'.repeat(80);

/** Offline the questions are the recorded ones, and so is the day. */
function questions() {
  const day = isLive ? new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Tokyo' }).format(new Date()) : '2026-11-20';
  return [
    ['answer', `本日 ${day} の東京の天気は？`],
    ['answer', 'What does HTTP 404 mean?'],
    ['answer_detailed', 'Compare HTTP/2 and HTTP/3'],
    ['answer_quick', 'What is the latest MCP specification revision?'],
  ];
}

async function ask(server, tool, query) {
  const startedAt = performance.now();
  const answer = answerOf(await within(LONGEST_CALL_MS, query, server.callTool(tool, { query })));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2);

  console.log(`\n${RULE}\n${query}`);
  const searched = answer.used_search ? 'searched the web' : 'no search needed';
  console.log(`${tool}, ${answer.model}, ${seconds} s, ${searched}\n${RULE}\n`);
  console.log(answer.answer);
  if (answer.citations.length === 0) return;
  console.log('\nCitations:');
  for (const [index, { url, title, published_at }] of answer.citations.entries()) {
    const number = `${index + 1}.`.padStart(4);
    console.log(`${number} ${title ?? url}${published_at === undefined ? '' : ` (${published_at})`}`);
    if (title !== undefined) console.log(`     ${url}`);
  }
}
