// Sends mixed traffic to the built server while the API often fails. Prints numbers, and fails if a response is lost or
// duplicated, or if memory grows.
import { setTimeout as wait } from 'node:timers/promises';
import { startSoakApi } from './lib/soak-api.js';
import { startSoakClient } from './lib/soak-client.js';
import { beforeAndAfter, minutes, seeded } from './lib/soak-options.js';

const REPORT_EVERY_MS = 10_000;
const CALLERS = 40;
const TIMEOUT_MS = 4000;
/** A response that takes longer counts as lost: the deadline, and what a busy machine may add. */
const LOST_AFTER_MS = TIMEOUT_MS + 10_000;

/** Allowed growth of the heap at rest and of the resident memory. A leak of 1 kB per call adds about 4 MB per minute. */
const HEAP_GROWTH_MB = 3;
const RSS_GROWTH_MB = 40;

const random = seeded(Number(process.env.SOAK_SEED ?? 1));
const api = await startSoakApi(random);
const env = {
  OPENAI_API_KEY: 'sk-soak-0123456789abcdefghij',
  OPENAI_BASE_URL: api.url,
  OPENAI_API_TIMEOUT: String(TIMEOUT_MS),
  OPENAI_MAX_RETRIES: '2',
};
const clients = ['line', 'framed'].map((framing) => startSoakClient({ framing, env, random }));
const startedAt = performance.now();
const endsAt = startedAt + minutes * 60_000;
const samples = [];
let late = 0;
let isOver = false;

const gone = clients.map(({ exited }) =>
  exited.then(({ code, signal }) => {
    if (!isOver) fail(`a server exited unexpectedly (${signal ?? `exit code ${code}`})`);
    return code;
  }),
);

console.log(
  `Soak: ${minutes} min, ${clients.length} servers (lines, frames), ${CALLERS} callers each, Node.js ${process.version}`,
);
await Promise.all(clients.map((client) => client.initialize()));
const traffic = clients.flatMap((client) => [
  ...Array.from({ length: CALLERS }, () => keepCalling(client)),
  repeat(20, () => client.ping()),
  repeat(150, () => client.garble()),
  repeat(300, () => [client.list(), client.callWithoutQuery(), client.callUnknownTool()]),
]);
while (performance.now() < endsAt) {
  await wait(Math.min(REPORT_EVERY_MS, Math.max(0, endsAt - performance.now())));
  await report();
}
await Promise.race([Promise.all(traffic), wait(LOST_AFTER_MS)]);
isOver = true;
for (const client of clients) client.end();
const codes = await Promise.race([Promise.all(gone), wait(LOST_AFTER_MS)]);
for (const client of clients) client.kill();
api.close();
finish();

/** One caller: asks, sometimes cancels, waits, asks again. */
async function keepCalling(client) {
  while (performance.now() < endsAt) {
    const { id, settled } = client.call();
    if (random() < 0.1) {
      await wait(random() * 200);
      client.cancel(id);
    }
    await settled;
    await wait(random() * 300);
  }
}

async function repeat(everyMs, act) {
  while (performance.now() < endsAt) {
    act();
    await wait(everyMs * 2 * random());
  }
}

async function report() {
  const times = clients.flatMap(({ account }) => account.times.splice(0)).sort((a, b) => a - b);
  for (const client of clients) client.measure();
  await wait(300);
  late = Math.max(
    late,
    sum((client) => client.overdue(LOST_AFTER_MS)),
  );
  const memory = clients.map(({ account }) => account.memory).filter((each) => each !== undefined);
  if (memory.length === clients.length) samples.push(memory);
  const at = (share) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(0);
  const mb = (what) => memory.map((each) => (each[what] / 1e6).toFixed(1)).join('+') || '-';
  console.log(
    [
      `${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s`,
      `calls ${total('calls')}`,
      `answers ${sum(({ account }) => account.answers)}`,
      `errors ${errorsAsText()}`,
      `cancelled ${sum(({ account }) => account.cancelled)}`,
      `pings ${total('pings')}`,
      `garbage ${total('garbage')}`,
      `lost ${late}`,
      `duplicates ${sum(({ account }) => account.duplicates)}`,
      `p50 ${at(0.5)} ms`,
      `p99 ${at(0.99)} ms`,
      `heap ${mb('heap')} MB`,
      `RSS ${mb('rss')} MB`,
    ].join('  '),
  );
}

function finish() {
  const lost = sum((client) => client.lost()) + late;
  const problems = [
    ...(lost > 0 ? [`${lost} responses were lost`] : []),
    ...clients.flatMap(({ account }) => account.problems.slice(0, 5)),
    ...(codes?.every((code) => code === 0) ? [] : [`the servers did not exit normally: ${codes ?? 'still running'}`]),
    ...growth('heap', HEAP_GROWTH_MB),
    ...growth('rss', RSS_GROWTH_MB),
  ];
  console.log(
    `Total: ${total('calls')} calls, ${sum(({ account }) => account.answers)} answers, ${sum(({ account }) => Object.values(account.errors).reduce((a, b) => a + b, 0))} reported failures, ${sum(({ account }) => account.cancelled)} cancelled, ${lost} lost, ${sum(({ account }) => account.duplicates)} duplicates`,
  );
  if (problems.length > 0) fail(problems.join('\n  '));
  console.log('OK: nothing lost, no duplicates, no growth.');
  process.exit(0);
}

function growth(what, allowedMb) {
  return clients.flatMap((_, index) => {
    const compared = beforeAndAfter(samples.map((sample) => sample[index][what] / 1e6));
    if (compared === undefined) return [];
    const [before, after] = compared;
    console.log(`${what} of server ${index + 1}: ${before.toFixed(1)} MB, then ${after.toFixed(1)} MB`);
    return after - before > allowedMb ? [`${what} grew by ${(after - before).toFixed(1)} MB`] : [];
  });
}

function fail(why) {
  console.error(`FAILED:\n  ${why}`);
  for (const client of clients) client.kill();
  process.exit(1);
}

function sum(count) {
  return clients.reduce((before, client) => before + count(client), 0);
}

function total(name) {
  return sum(({ account }) => account.sent[name] ?? 0);
}

function errorsAsText() {
  const errors = {};
  for (const { account } of clients) {
    for (const [kind, count] of Object.entries(account.errors)) errors[kind] = (errors[kind] ?? 0) + count;
  }
  return (
    Object.entries(errors)
      .map(([kind, count]) => `${kind}:${count}`)
      .join(' ') || '0'
  );
}
