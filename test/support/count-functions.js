// Preloaded into a program by the test of the way of a call: writes, on SIGUSR2, the functions that ran since the last signal, by their files.
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGUSR2', () => {
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error) throw error;
    const ran = taken.result.map(({ url, functions }) => [
      url,
      functions.filter(({ ranges: [range] }) => range.count > 0).map(({ functionName }) => functionName),
    ]);
    writeSync(2, `ran ${JSON.stringify(ran.filter(([, functions]) => functions.length > 0))}\n`);
  });
});
