// npm run live: checks with your key what only the API can show (CONTRIBUTING.md).
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadBundle } from './lib/load-source.js';

const USAGE = 'Usage: npm run live -- [--list] [--yes] [--only NAME]... [--long] [--evidence N] [--score FILE]';
const controller = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => controller.abort());
process.stdout.on('error', () => controller.abort()); // Nothing reads it, as in `| head -1`.
async function confirm(question) {
  const terminal = createInterface(process.stdin, process.stderr).once('SIGINT', () => controller.abort());
  const answer = await terminal.question(question, { signal: controller.signal }).catch(() => '');
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}
const { live } = await loadBundle("export { live } from './scripts/live/main.js';");
const code = await live(process.argv.slice(2), {
  environment: process.env,
  root: fileURLToPath(new URL('..', import.meta.url)),
  folder: process.cwd(),
  out: (text) => process.stdout.write(text),
  confirm: process.stdin.isTTY ? confirm : undefined,
  signal: controller.signal,
  sleep: (ms) => sleep(Math.max(0, ms), undefined, { signal: controller.signal }).catch(() => {}),
}).catch(({ message }) => {
  console.error(`${message}\n${USAGE}`);
  return 2;
});
process.stdout.write('', () => process.exit(code)); // Also if a failed check left something open.
