// npm run mcp:smoke:apikey: initialize, tools/list and tools/call with the OpenAI API. Costs a little; requires OPENAI_API_KEY.
import { smoke } from './lib/smoke.js';
import { runScript } from './lib/stdio-client.js';

if (!process.env.OPENAI_API_KEY?.trim()) {
  console.log('Skipped: OPENAI_API_KEY is not set, and this script asks the OpenAI API.');
} else {
  runScript(() => smoke({ framing: 'framed', timeoutMs: 300_000 }));
}
