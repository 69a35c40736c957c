// npm run mcp:smoke:ldjson: the built server answers initialize, tools/list and tools/call in lines, offline.
import { smoke } from './lib/smoke.js';
import { runScript } from './lib/stdio-client.js';

runScript(() => smoke({ args: ['--offline'], framing: 'line', timeoutMs: 15_000 }));
