import { expect, test } from 'vitest';
import { answers, stallsMidStream } from '../support/behaviours.ts';
import { serveWithApi, textOf } from './serve.ts';

test('a call in progress at the end of the input is answered in time, and its search goes on', async () => {
  const { api, server } = await serveWithApi({ env: { LONG_ANSWERS: 'answer_detailed', OPENAI_API_TIMEOUT: '1000' } });
  api.reply(stallsMidStream(8, answers('A long answer.')));
  await server.initialize();
  const answered = server.callTool('answer_detailed', { query: 'Why?' });
  server.closeStdin();
  expect(textOf(await answered)).toMatch(/not finished.*la1\.d\./s);
  expect(await server.exited).toMatchObject({ code: 0 });
  expect(api.requests.map(({ path }) => path)).toEqual(['/v1/responses']);
});
