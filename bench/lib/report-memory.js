// Preloaded into the server by the bench of the gateway: prints the size of its heap after a full collection on SIGUSR2.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

if (process.platform !== 'win32') {
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed: heap } = process.memoryUsage();
    process.stderr.write(`memory ${JSON.stringify({ heap })}\n`);
  });
}
