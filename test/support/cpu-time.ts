/**
 * The milliseconds of the processor that work takes: unlike those that pass, they do not depend on what else runs on the machine. The garbage
 * collector and the compiler, which have threads of their own, are included, and disturb single runs: the least of several is taken, of which
 * one of less than `enoughMs` is the last.
 */
export function cpuMs(work: () => void, runs = 1, enoughMs = 0): number {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs && leastMs >= enoughMs; run += 1) {
    const startedMs = nowMs();
    work();
    leastMs = Math.min(leastMs, nowMs() - startedMs);
  }
  return leastMs;
}

function nowMs(): number {
  // Windows counts the time of the processor in steps of 16 ms.
  if (process.platform === 'win32') return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
