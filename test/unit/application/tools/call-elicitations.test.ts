import { expect, test } from 'vitest';
import { type AuditedElicitation, CallElicitations } from '../../../../src/application/tools/call-elicitations.ts';
import type { Asker, Elicitation } from '../../../../src/domain/gateway/elicitation.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const FORM: Elicitation = { server: 'files', mode: 'form', message: 'Sure?', schema: params.requestedSchema, params };

function start(asker: Partial<Asker> | undefined) {
  const clock = new FakeClock();
  const ended: AuditedElicitation[] = [];
  let pauses = 0;
  const pause = () => {
    pauses += 1;
    return () => {
      pauses -= 1;
    };
  };
  const complete: Asker | undefined = asker && {
    declared: { elicitation: {} },
    ask: async () => ({ action: 'accept' }),
    ...asker,
  };
  const elicitations = new CallElicitations({ asker: complete, clock, onEnded: (one) => ended.push(one) });
  const limits = { questionTimeoutMs: 1000, pause, maxConcurrency: 8 };
  const ask = () => elicitations.ask(FORM, limits, new AbortController().signal);
  return { clock, elicitations, ended, ask, pauses: () => pauses };
}

test('the answer of the person is passed on, and noted without its text', async () => {
  const { ask, ended, elicitations } = start({ ask: async () => ({ action: 'accept', content: { sure: true } }) });
  expect(await ask()).toEqual({ action: 'accept', content: { sure: true } });
  expect(ended).toEqual([{ server: 'files', mode: 'form', action: 'accept' }]);
  expect(elicitations.refused).toBeUndefined();
});

test.for<[asker: Partial<Asker> | undefined, why: string]>([
  [undefined, 'nobody'],
  [{ declared: { elicitation: { url: {} } } }, 'nobody'],
  [{ ask: async () => 'ended' }, 'ended'],
])('without an answer, the server gets `cancel` (%j)', async ([asker, why]) => {
  const { ask, ended, elicitations } = start(asker);
  expect(await ask()).toEqual({ action: 'cancel' });
  expect(elicitations.refused).toMatchObject({
    server: 'files',
    why,
    requests: [{ method: 'elicitation/create', params }],
  });
  expect(ended).toEqual([{ server: 'files', mode: 'form', action: 'cancel' }]);
});

test('the limit of the call stands still until an answer is too late', async () => {
  const never: Asker['ask'] = (_, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ action: 'cancel' })));
  const { ask, clock, elicitations, pauses } = start({ ask: never });
  const asked = ask();
  expect(pauses()).toBe(1);
  await clock.advance(1000);
  expect(await asked).toEqual({ action: 'cancel' });
  expect(elicitations.refused).toMatchObject({ why: 'late', waitedMs: 1000 });
  expect(pauses()).toBe(0);
});

test('the eleventh question is not asked', async () => {
  const { ask, elicitations } = start({});
  for (let count = 0; count < 10; count += 1) expect(await ask()).toEqual({ action: 'accept' });
  expect(await ask()).toEqual({ action: 'cancel' });
  expect(elicitations.refused).toMatchObject({ why: 'too_many' });
});

// S81
test.for<[open: number, atServer: number, isAsked: boolean]>([
  [15, 3, true],
  [16, 0, false],
  [4, 4, false],
])('with %i open questions, %i of them at a server with eight places', async ([open, atServer, isAsked]) => {
  const { ask, elicitations } = start({ open: (server) => (server === undefined ? open : atServer) });
  expect(await ask()).toEqual({ action: isAsked ? 'accept' : 'cancel' });
  expect(elicitations.refused?.why).toBe(isAsked ? undefined : 'too_many_open');
});

test('every question that nobody answered is named', async () => {
  const { ask, elicitations } = start(undefined);
  await ask();
  await ask();
  expect(elicitations.refused?.requests).toHaveLength(2);
});

test('a server that asks without end fills neither the audit nor the result', async () => {
  const { ask, ended, elicitations } = start(undefined);
  for (let count = 0; count < 100; count += 1) expect(await ask()).toEqual({ action: 'cancel' });
  expect([ended.length, elicitations.refused?.requests.length]).toEqual([11, 11]);
});
