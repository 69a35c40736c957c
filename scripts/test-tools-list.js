// The built server lists its three tools, also in frames. Requires no key.
import assert from 'node:assert/strict';
import { runScript, startServer, within } from './lib/stdio-client.js';

runScript(async () => {
  for (const framing of ['line', 'framed']) {
    const server = startServer({ framing });
    try {
      await within(10_000, 'initialize', server.initialize());
      const { result } = await within(10_000, 'tools/list', server.request('tools/list', {}));
      const names = result.tools.map(({ name }) => name);
      assert.deepEqual(names, ['answer', 'answer_detailed', 'answer_quick']);
      for (const { name, inputSchema } of result.tools) assert.deepEqual(inputSchema.required, ['query'], name);
      const { code } = await within(5000, 'the end of input', server.close());
      assert.equal(code, 0, 'the exit code at the end of input');
      console.log(`OK: tools/list names ${names.join(', ')} (${framing}).`);
    } finally {
      server.child.kill('SIGKILL');
    }
  }
});
