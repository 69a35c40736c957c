// For the tests of the tools over MCP and in the terminal: results, errors and progress of every kind.
// STARTS: a file to which each process adds its PID.
import { appendFileSync } from 'node:fs';

const { STARTS } = process.env;
if (STARTS !== undefined) appendFileSync(STARTS, `${process.pid}\n`);

const text = (text) => ({ content: [{ type: 'text', text }] });
const ECHO_SCHEMA = {
  type: 'object',
  properties: { message: { $ref: '#/$defs/message' } },
  required: ['message'],
  additionalProperties: false,
  $defs: { message: { type: 'string', description: 'What to say' } },
};
const SUM_SCHEMA = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
let cancellations = 0;
let finishSteps = () => {};

export const TOOLS = {
  echo: {
    title: 'Echo',
    description: 'Says it again.',
    inputSchema: ECHO_SCHEMA,
    annotations: { readOnlyHint: true, title: 'Echo' },
    run: ({ message }) => text(message),
  },
  sum: {
    outputSchema: SUM_SCHEMA,
    run: ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  },
  picture: {
    run: () => ({
      content: [
        { type: 'text', text: 'A picture' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'file:///a.png', name: 'a.png' },
      ],
      _meta: { 'example.com/size': 1 },
    }),
  },
  fail: { run: () => ({ ...text('It did not work.'), isError: true }) },
  refuse: { error: { code: -32050, message: 'Not today', data: { hint: 'tomorrow' } } },
  /** Reports its first step. A call with `finish` ends it, so that a client has read the step: one that follows at once is read with the result. */
  steps: {
    run: ({ finish }, { id, progressToken, send }) => {
      if (finish) {
        finishSteps();
        return text('Finished.');
      }
      const report = (progress) => {
        const params = { progressToken, progress, total: 2, message: `step ${progress}` };
        return progressToken === undefined ? [] : [{ method: 'notifications/progress', params }];
      };
      send(...report(1));
      finishSteps = () => send(...report(2), { id, result: text('Done.') });
    },
  },
  /** Ends only when it is cancelled, which is too late. */
  wait: {
    run: (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          cancellations += 1;
          resolve();
        });
      }),
  },
  cancellations: { run: () => text(String(cancellations)) },
  environment: { run: () => ({ content: [], structuredContent: process.env }) },
  exit: {
    run: () => {
      process.stderr.write('It was asked to exit.\n');
      process.exit(3);
    },
  },
  more: {
    run: (_, { send }) => {
      TOOLS.added = { run: () => text('I am new.') };
      send({ method: 'notifications/tools/list_changed' });
      return text('Added.');
    },
  },
};
