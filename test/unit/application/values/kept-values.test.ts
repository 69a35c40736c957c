import { expect, test } from 'vitest';
import { never } from '../../../../src/application/async/deadline.ts';
import type { ValueReference } from '../../../../src/application/ports/values.ts';
import { KeptValues } from '../../../../src/application/values/kept-values.ts';
import { createRedactor, MASK } from '../../../../src/domain/values/redaction.ts';
import { FakeValueReader } from '../../../support/fake-value-reader.ts';

const KEY: ValueReference = { kind: 'command', words: ['op', 'read', 'x'], folder: '/home' };

function keep(values: readonly string[], turn?: Promise<unknown>) {
  const reader = new FakeValueReader({ 'op read x': values, '/short': 'brief' }, turn);
  const redactor = createRedactor();
  const kept = new KeptValues({ reader, redactor, formsOf: (secret) => [secret] });
  const read = (signal = never()) => kept.read(KEY, signal);
  return { reader, redactor, kept, read };
}

test('a value is read once for all who wait for it, and kept', async () => {
  const { reader, read } = keep(['first-secret', 'second-secret']);
  const reads = await Promise.all([read(), read(), read()]);
  expect(reads.map((one) => one._unsafeUnwrap().text)).toEqual(Array(3).fill('first-secret'));
  expect((await read())._unsafeUnwrap().text).toBe('first-secret');
  expect(reader.reads).toHaveLength(1);
});

test('the same command in another folder is another value', async () => {
  const { reader, kept, read } = keep(['first-secret']);
  await read();
  await kept.read({ ...KEY, folder: '/other' }, never());
  expect(reader.reads).toHaveLength(2);
});

test('a value that was refused is read once more for all who used it', async () => {
  const { reader, kept, read } = keep(['first-secret', 'second-secret']);
  const used = (await read())._unsafeUnwrap();
  const renewed = await Promise.all([1, 2].map(() => kept.renew(KEY, used, never())));
  renewed.push(await kept.renew(KEY, used, never()));
  expect(renewed.map((one) => one._unsafeUnwrap().text)).toEqual(Array(3).fill('second-secret'));
  expect(reader.reads).toHaveLength(2);
});

test('a value that has not changed is the same object', async () => {
  const { kept, read } = keep(['first-secret']);
  const used = (await read())._unsafeUnwrap();
  expect((await kept.renew(KEY, used, never()))._unsafeUnwrap()).toBe(used);
});

test('a failure is not kept', async () => {
  const { reader, read } = keep(['', 'second-secret']);
  expect((await read())._unsafeUnwrapErr()).toEqual({ kind: 'no_output', command: 'op', code: '0' });
  expect((await read())._unsafeUnwrap().text).toBe('second-secret');
  expect(reader.reads).toHaveLength(2);
});

test('one who stops waiting does not end the read of the others', async () => {
  let go = () => {};
  const turn = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { read } = keep(['first-secret'], turn);
  const leaving = new AbortController();
  const [left, stayed] = [read(leaving.signal), read()];
  leaving.abort();
  expect((await left)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
  go();
  expect((await stayed)._unsafeUnwrap().text).toBe('first-secret');
});

test('the end of the program ends the reads', async () => {
  const { kept, read } = keep(['first-secret'], new Promise(() => {}));
  const reading = read();
  await kept.close();
  expect((await reading)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
});

test('a value is masked before anyone has it, and the one before, too; a short one is not', async () => {
  const { redactor, kept, read } = keep(['first-secret', 'second-secret']);
  await read();
  expect(redactor.anywhere('a first-secret')).toBe(`a ${MASK}`);
  await kept.renew(KEY, undefined, never());
  expect(redactor.anywhere('first-secret second-secret')).toBe(`${MASK} ${MASK}`);
  await kept.read({ kind: 'file', path: '/short' }, never());
  expect(redactor.inLogs('brief')).toBe('brief');
});
