// Preloaded into the server by the soak scripts: prints its memory and the number of its handles on SIGUSR2. The heap is measured after a full garbage
// collection; without one the number is meaningless, because V8 collects when it chooses to.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

if (process.platform !== 'win32') {
  process.on('SIGUSR2', () => {
    const { rss } = process.memoryUsage();
    collect();
    const { heapUsed: heap } = process.memoryUsage();
    const handles = process.getActiveResourcesInfo().length;
    process.stderr.write(`memory ${JSON.stringify({ heap, rss, handles })}\n`);
  });
}
