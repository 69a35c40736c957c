// npm run fake-api: a substitute for the OpenAI API on this machine, to try the program without a key. Words in the question
// control it: "slow 20" waits 20 seconds, "tool:search {"query":"x"}" calls the own tool whose name contains "search".
import { loadBundle } from './lib/load-source.js';

const { startQuestionApi } = await loadBundle("export { startQuestionApi } from './test/support/question-api.ts';");
const { url } = await startQuestionApi();
console.log(`${url}

OPENAI_API_KEY=sk-fake OPENAI_BASE_URL=${url} node build/index.js ask "slow 3 Hello"

In a question, "slow N" waits N seconds, and "tool:NAME {...}" calls a tool whose name contains NAME. Ctrl-C ends it.`);
