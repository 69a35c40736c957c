// A call that is cancelled while the OpenAI API processes it is never answered (spec 6.1, 17.2). Requires OPENAI_API_KEY.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { runScript, startServer, within } from './lib/stdio-client.js';

/** After the first progress: long enough for the call to reach the API, and far too short for the answer. */
const BEFORE_CANCEL_MS = 1500;
/** How long to wait for an answer that must not arrive. */
const AFTER_CANCEL_MS = 5000;

if (!process.env.OPENAI_API_KEY?.trim()) {
  console.log('Skipped: OPENAI_API_KEY is not set, and this script asks the OpenAI API.');
} else {
  runScript(async () => {
    const server = startServer();
    try {
      await within(10_000, 'initialize', server.initialize());
      const query = 'Compare the energy policies of Japan, Germany and France since 2011, in depth and with sources.';
      const params = { name: 'answer_detailed', arguments: { query }, _meta: { progressToken: 'call' } };
      const call = server.request('tools/call', params);
      call.catch(() => {});
      const asked = async () => {
        while (!server.messages.some(({ method }) => method === 'notifications/progress')) await wait(50);
      };
      await within(10_000, 'progress', asked());
      await wait(BEFORE_CANCEL_MS);
      assert.ok(!server.messages.some(({ id }) => id === call.id), 'the call was answered before it was cancelled');
      server.notify('notifications/cancelled', { requestId: call.id, reason: 'cancelled by the script' });
      const pong = await within(10_000, 'ping', server.request('ping'));
      assert.deepEqual(pong.result, {});
      await wait(AFTER_CANCEL_MS);
      assert.ok(!server.messages.some(({ id }) => id === call.id), 'a cancelled call was answered');
      const { code } = await within(5000, 'the end of input', server.close());
      assert.equal(code, 0, 'the exit code at the end of input');
      console.log('OK: the cancelled call was not answered, and the server continued.');
    } finally {
      server.child.kill('SIGKILL');
    }
  });
}
