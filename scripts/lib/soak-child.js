// A stdio server of the gateway's soak. It ignores cancellations, so that late answers occur. Arguments: a text by which the
// soak finds the process, and the file to which the numbers of the received calls are appended.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { errorOf, resultOf } from './soak-tools.js';

const [, , , file] = process.argv;
const server = {
  received: (call) => appendFileSync(file, `${call}\n`),
  die: () => {
    process.stderr.write('the soak asked for this\n');
    process.exit(1);
  },
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) return;
  const result = await resultOf(message, server);
  const response =
    result === undefined ? errorOf(message.id, message.method) : { jsonrpc: '2.0', id: message.id, result };
  process.stdout.write(`${JSON.stringify(response)}\n`);
});
process.stdin.on('end', () => process.exit(0));
