// A fake API as a separate process: sends a recorded stream without delay. Prints its port; GET / returns the body of the
// latest request.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const reply = readFileSync(process.argv[2]);
let latest = '{}';

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  if (request.method === 'GET') {
    response.end(latest);
    return;
  }
  latest = await text(request);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.end(reply);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
