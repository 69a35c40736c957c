import { expect, onTestFinished, test } from 'vitest';
import { WorkerTextReader } from '../../src/adapters/outbound/texts/worker-text-reader.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { FakeTextReader } from '../support/fake-text-reader.ts';
import { BUILT_TEXT_WORKER } from '../support/text-worker.ts';
import { describeTextReader } from './describe-text-reader.ts';
import { never } from './search-kit.ts';

const LONG = 'It is 4 (https://a.com/). '.repeat(7000);

function start(over: Partial<ConstructorParameters<typeof WorkerTextReader>[0]> = {}) {
  const clock = new FakeClock();
  const reader = new WorkerTextReader({ file: BUILT_TEXT_WORKER, clock, ...over });
  onTestFinished(() => reader.close());
  const read = (text: string, caller = 'alice', signal = never()) => reader.read('links', [text], caller, signal);
  return { clock, reader, read };
}

describeTextReader('WorkerTextReader', start);
describeTextReader('FakeTextReader', () => {
  const clock = new FakeClock();
  return { clock, reader: new FakeTextReader({}, clock) };
});

test('a text that needs too much memory is refused, and the process and other texts go on', async () => {
  const { reader, read } = start({ memoryMb: 8 });
  const claims = Array.from({ length: 500_000 }, (_, at) => `The tower has ${at} steps.`);
  const page = { visible: 'The tower of the town has 42 steps.', other: [], isCut: false };
  const refused = await reader.read('figures', [claims, page], 'mallory', never());
  expect(refused._unsafeUnwrapErr()).toEqual({ kind: 'too_large' });
  expect((await read('https://a.com/')).isOk()).toBe(true);
});

test('a text that is nested too deeply is refused, and other texts go on', async () => {
  const { read } = start();
  const refused = await read(`${'> '.repeat(15_000)}https://a.com/`);
  expect(refused._unsafeUnwrapErr()).toEqual({ kind: 'too_large' });
  expect((await read('https://a.com/')).isOk()).toBe(true);
});

test('callers take turns: many texts of one do not delay the text of another', async () => {
  const { read } = start();
  const ended: string[] = [];
  const end = async (text: string, caller: string) => read(text, caller).then(() => ended.push(caller));
  await Promise.all([...Array.from({ length: 6 }, () => end(LONG, 'mallory')), end('https://a.com/', 'alice')]);
  expect(ended.indexOf('alice')).toBeLessThan(5);
});

test('the end of the program ends the readings', async () => {
  const { reader, read } = start();
  const reading = read(LONG);
  await settled();
  await reader.close();
  expect((await reading)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
  expect((await read('https://a.com/'))._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
});

test('a missing file of the program is no property of the text', async () => {
  const { read } = start({ file: '/nonexistent/text-worker.js' });
  for (const _ of [1, 2, 3]) await expect(read('https://a.com/')).rejects.toMatchObject({ code: 'MODULE_NOT_FOUND' });
});
