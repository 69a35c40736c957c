import { expect } from 'vitest';
import { newFile } from '../e2e/files.ts';
import { liveTest } from './api.ts';
import { requestsOf } from './program.ts';

const QUESTION =
  'Find on the web the next public holiday in Japan. Then search our notes for whether we deploy on that day.';

/** The requests of an answer that may use the notes of the examples. */
function requestsWith(web: 'always' | 'before') {
  const config = {
    servers: [{ name: 'notes', command: process.execPath, args: [`${process.cwd()}/examples/notes.mjs`] }],
    grounding: { tools: { notes: 'all' }, web },
    llm: { record_private: true },
  };
  return requestsOf([`--config=${newFile('config.yaml', JSON.stringify(config))}`, QUESTION]);
}

liveTest('grounded: the API accepts the items of a conversation again, with encrypted reasoning', async () => {
  const sent = JSON.stringify((await requestsWith('always')).at(-1)?.input);
  for (const part of ['"function_call_output"', '"encrypted_content"', '"web_search_call"'])
    expect(sent).toContain(part);
});

liveTest(
  'grounded-closed: after the output of a private tool, the API accepts a request with the web closed',
  async () => {
    expect(JSON.stringify((await requestsWith('before')).at(-1)?.tools)).toContain('"external_web_access":false');
  },
);
