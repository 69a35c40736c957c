import { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';

test('a silent API is left to the deadline of the call', async () => {
  const seen: Dispatcher.DispatchOptions[] = [];
  class Recording extends Dispatcher {
    override dispatch(options: Dispatcher.DispatchOptions): boolean {
      seen.push(options);
      throw new Error('this test sends nothing');
    }
  }
  await expect(createApiFetch(new Recording()).fetch('http://api.test/v1')).rejects.toThrow();
  expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
});
