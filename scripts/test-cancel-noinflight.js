// A cancellation of a request that is not in flight is ignored. Requires no key.
import assert from 'node:assert/strict';
import { runScript, startServer, within } from './lib/stdio-client.js';

runScript(async () => {
  const server = startServer();
  try {
    const { id } = await within(10_000, 'initialize', server.initialize());
    server.notify('notifications/cancelled', { requestId: 'unknown', reason: 'there is no such request' });
    server.notify('notifications/cancelled', { requestId: id, reason: 'it has already been answered' });
    server.notify('notifications/cancelled', {});
    const { result } = await within(10_000, 'ping', server.request('ping'));
    assert.deepEqual(result, {});
    const { code } = await within(5000, 'the end of input', server.close());
    assert.equal(code, 0, 'the exit code at the end of input');
    assert.deepEqual([...server.notifications, ...server.unasked], [], 'cancellations get no message');
    console.log('OK: cancellations of requests that are not in flight are ignored.');
  } finally {
    server.child.kill('SIGKILL');
  }
});
