// A call that is cancelled while the OpenAI API processes it gets no response. Requires OPENAI_API_KEY; without it, skips.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { runScript, startServer, within } from './lib/stdio-client.js';

const QUERY = 'Compare the energy policies of Japan, Germany and France since 2011, in depth and with sources.';
/** After the first progress: long enough for the request to reach the API, and far too short for the answer. */
const BEFORE_CANCEL_MS = 1500;

if (process.env.OPENAI_API_KEY?.trim()) runScript(cancelDuringCall);
else console.log('Skipped: OPENAI_API_KEY is not set, and this script asks the OpenAI API.');

async function cancelDuringCall() {
  const server = startServer();
  try {
    await within(10_000, 'initialize', server.initialize());
    let response;
    const params = { name: 'answer_detailed', arguments: { query: QUERY }, _meta: { progressToken: 'call' } };
    const call = server.ask({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params });
    call.then(
      (message) => {
        response = message;
      },
      () => {},
    );
    while (server.notifications.length === 0) await within(10_000, 'progress', once(server.child.stdout, 'data'));
    await wait(BEFORE_CANCEL_MS);
    assert.equal(response, undefined, `answered before it was cancelled: ${JSON.stringify(response)}`);
    server.notify('notifications/cancelled', { requestId: 'call', reason: 'cancelled by the script' });
    const pong = await within(10_000, 'ping', server.request('ping'));
    assert.deepEqual(pong.result, {});
    // The server answers every call that is still in flight before it exits.
    const { code } = await within(5000, 'the end of input', server.close());
    assert.equal(code, 0, 'the exit code at the end of input');
    assert.equal(response, undefined, 'the cancelled call got a response');
    console.log('OK: the cancelled call got no response, and the server continued.');
  } finally {
    server.child.kill('SIGKILL');
  }
}
