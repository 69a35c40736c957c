// The built server lists exactly its three tools. Requires no key.
import assert from 'node:assert/strict';
import { runScript, startServer, within } from './lib/stdio-client.js';

runScript(async () => {
  const server = startServer();
  try {
    await within(10_000, 'initialize', server.initialize());
    const { result } = await within(10_000, 'tools/list', server.request('tools/list', {}));
    const names = result.tools.map(({ name }) => name);
    assert.deepEqual(names, ['answer', 'answer_detailed', 'answer_quick']);
    for (const { name, inputSchema } of result.tools) assert.deepEqual(inputSchema.required, ['query'], name);
    const { code } = await within(5000, 'the end of input', server.close());
    assert.equal(code, 0, 'the exit code at the end of input');
    console.log(`OK: tools/list names ${names.join(', ')}.`);
  } finally {
    server.child.kill('SIGKILL');
  }
});
