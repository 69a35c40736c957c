import { describe, expect, test } from 'vitest';
import type { Definitions, KeptDefinitions } from '../../src/application/ports/tool-server.ts';

export const DEFINITIONS: Definitions = {
  listedAt: new Date('2026-11-20T12:00:00Z'),
  tools: [
    { server: 'a', name: 'x', title: 'X', description: '', inputSchema: { type: 'object' }, annotations: { b: 1 } },
    { server: 'a', name: 'y', description: 'Y.', inputSchema: { type: 'object' }, _meta: { c: [null] } },
  ],
  capabilities: { tools: { listChanged: true }, prompts: {} },
  serverInfo: { name: 'a', version: '1' },
  shared: { prompts: [{ server: 'a', name: 'p', id: 'p', listed: { name: 'p', title: 'P' } }], resources: [] },
};

/** What every KeptDefinitions guarantees. Each `open` is another process with the same definitions. */
export function describeKeptDefinitions(name: string, start: () => { readonly open: () => KeptDefinitions }): void {
  describe(`${name} as KeptDefinitions`, () => {
    test('returns in another process what was written last, and nothing for another key', async () => {
      const { open } = start();
      const kept = open();
      expect(await kept.read('one')).toBeUndefined();
      await kept.write('one', { ...DEFINITIONS, tools: [] });
      await kept.write('one', DEFINITIONS);
      expect(await open().read('one')).toEqual(DEFINITIONS);
      expect(await kept.read('one')).toEqual(DEFINITIONS);
      expect(await kept.read('two')).toBeUndefined();
    });

    test('always returns complete definitions while several processes write', async () => {
      const { open } = start();
      await open().write('one', DEFINITIONS);
      const write = async (index: number) => {
        const kept = open();
        await kept.write('one', { ...DEFINITIONS, capabilities: { index } });
        return kept.read('one');
      };
      const read = await Promise.all(Array.from({ length: 8 }, (_, index) => write(index)));
      expect(read.map((definitions) => definitions?.tools)).toEqual(read.map(() => DEFINITIONS.tools));
    });
  });
}
