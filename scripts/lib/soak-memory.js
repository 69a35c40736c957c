// Preloaded into the server by scripts/soak.js: prints its memory on SIGUSR2. The heap is measured after a full garbage
// collection; without one the number is meaningless, because V8 collects when it chooses to.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

if (process.platform !== 'win32') {
  process.on('SIGUSR2', () => {
    const { rss } = process.memoryUsage();
    collect();
    process.stderr.write(`memory ${JSON.stringify({ heap: process.memoryUsage().heapUsed, rss })}\n`);
  });
}
