// `check` of a report with 50 links to ten hosts, and of a text that was written to be read slowly, from spawn to exit. A local proxy is the web: each page
// takes 200 ms.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { CLEAN } from './lib/clean-process.js';
import { bounded, inTurn, median, printRows } from './lib/figures.js';

const [LINKS, HOSTS, PAGE_MS] = [50, 10, 200];
const LIMIT_S = 3;

const PAGE = `<p>${'The tower of the town has 42 steps. '.repeat(300)}</p>`;
const REPORT = Array.from(
  { length: LINKS },
  (_, at) => `The tower has ${at % 2 === 0 ? 42 : 43} steps (http://host-${at % HOSTS}.example/${at}).`,
).join('\n');
/** The summary, in the words of this build or of an earlier one. */
const SUMMARY = new RegExp(
  `^${LINKS} links: ${LINKS} read; .*\\b${LINKS / 2} (?:of ${LINKS} claims )?have figures that are not on the page\\n$`,
  'm',
);

/** Sentences that end and brackets that do not, many numbers for one entry, and URLs with marks: 36,000 characters without a link to a page. */
const HOSTILE = ['?(', '[1,1][1] ', 'file://a! '].map((part) => part.repeat(12_000 / part.length)).join('\n\n');
const HOSTILE_LIMIT_S = 2;

/** Returns whether the limits are kept. */
export async function benchCheck({ programs, rounds }) {
  const web = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    setTimeout(() => response.end(PAGE), PAGE_MS);
  });
  web.on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    web.emit('connection', socket);
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  const env = { ...CLEAN, HTTP_PROXY: `http://127.0.0.1:${web.address().port}` };
  const seconds = await inTurn(programs, rounds, (program) => check(program, env, REPORT, SUMMARY));
  const hostile = await inTurn(programs, rounds, (program) => check(program, CLEAN, HOSTILE, /^No links\n$/m));
  web.close();
  web.closeAllConnections();
  return printRows(`Check: ${LINKS} links to ${HOSTS} hosts, ${PAGE_MS} ms each, ${rounds} rounds`, [
    bounded({ what: 'time', builds: seconds.map(median), unit: 's', atMost: LIMIT_S }),
    bounded({ what: 'a hostile text', builds: hostile.map(median), unit: 's', atMost: HOSTILE_LIMIT_S }),
  ]);
}

async function check(program, env, text, summary) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [program, 'check', '-'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(text);
  const output = (await child.stdout.toArray()).join('');
  if (!summary.test(output)) throw new Error(`Not the summary that was expected: ${output}`);
  return (performance.now() - startedAt) / 1000;
}
