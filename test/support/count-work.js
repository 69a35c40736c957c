// Preloaded into a program by the test of the work of a call: counts what the program creates, and writes the counts on SIGUSR2. It
// only observes: what it wraps behaves as before.
import { createHook } from 'node:async_hooks';
import { writeSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const RESOURCES = { PROMISE: 'promises', Timeout: 'timers', Immediate: 'immediates' };
const work = { promises: 0, timers: 0, immediates: 0, abortSignals: 0, webStreams: 0, parsedBytes: 0 };
/** Whether this file creates something. */
let isOwn = false;

createHook({
  init: (_, type) => {
    if (type in RESOURCES && !isOwn) work[RESOURCES[type]] += 1;
  },
}).enable();

// async_hooks does not see what follows.
globalThis.AbortController = counted(AbortController, 'abortSignals');
for (const name of ['abort', 'any', 'timeout']) AbortSignal[name] = counted(AbortSignal[name], 'abortSignals');
const streams = createRequire(import.meta.url)('node:stream/web');
for (const name of ['ReadableStream', 'TransformStream', 'WritableStream']) {
  streams[name] = globalThis[name] = counted(streams[name], 'webStreams');
}
syncBuiltinESMExports();
JSON.parse = counted(JSON.parse, 'parsedBytes', ([text]) => Buffer.byteLength(String(text)));

/** The same function or class, of which each use counts. */
function counted(used, what, amount = () => 1) {
  const count = (args) => {
    work[what] += amount(args);
  };
  return new Proxy(used, {
    apply(target, self, args) {
      count(args);
      return Reflect.apply(target, self, args);
    },
    construct(target, args, newTarget) {
      count(args);
      return Reflect.construct(target, args, newTarget);
    },
  });
}

process.on('SIGUSR2', () => report(10));

/** Writes the counts some turns of the event loop later, because a call may do the last of its work after its response. */
function report(turns) {
  isOwn = true;
  if (turns > 0) setImmediate(report, turns - 1);
  else writeSync(2, `\nwork ${JSON.stringify(work)}\n`);
  isOwn = false;
}
