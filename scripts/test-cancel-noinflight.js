// Cancelling a request that does not run is ignored (spec 6.1, 17.2). Requires no key.
import assert from 'node:assert/strict';
import { runScript, startServer, within } from './lib/stdio-client.js';

runScript(async () => {
  const server = startServer();
  try {
    await within(10_000, 'initialize', server.initialize());
    server.notify('notifications/cancelled', { requestId: 'unknown', reason: 'there is no such request' });
    server.notify('notifications/cancelled', { requestId: 1, reason: 'it was answered before' });
    server.notify('notifications/cancelled', {});
    const pong = await within(10_000, 'ping', server.request('ping'));
    assert.deepEqual(pong.result, {});
    assert.equal(server.messages.length, 2, 'only initialize and ping are answered');
    const { code } = await within(5000, 'the end of input', server.close());
    assert.equal(code, 0, 'the exit code at the end of input');
    console.log('OK: cancellations of requests that do not run are ignored.');
  } finally {
    server.child.kill('SIGKILL');
  }
});
