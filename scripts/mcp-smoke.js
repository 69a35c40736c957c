// npm run mcp:smoke: the built server answers initialize, tools/list and tools/call in Content-Length frames, offline.
import { smoke } from './lib/smoke.js';
import { runScript } from './lib/stdio-client.js';

runScript(() => smoke({ args: ['--offline'], framing: 'framed', timeoutMs: 15_000 }));
