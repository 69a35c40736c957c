import { describe, expect, test } from 'vitest';
import type { ValueReader, ValueReference } from '../../src/application/ports/values.ts';
import { expectNoListener, never } from './search-kit.ts';

/** What a reader can be given: a file or a command, and what it contains or prints. */
export interface GivenValues {
  readonly reader: ValueReader;
  readonly file: (content: string) => ValueReference;
  readonly command: (output: string) => ValueReference;
  /** A file and a command that do not exist. */
  readonly missing: readonly [ValueReference, ValueReference];
}

/** What every ValueReader guarantees. */
export function describeValueReader(name: string, start: () => GivenValues): void {
  describe(`${name} as ValueReader`, () => {
    test.each(['file', 'command'] as const)('reads a %s without one line break at its end', async (kind) => {
      const { reader, ...given } = start();
      for (const [written, value] of [
        ['secret', 'secret'],
        ['secret\n', 'secret'],
        ['secret\r\n', 'secret'],
        [' two words\n\n', ' two words\n'],
        ['秘密\n', '秘密'],
      ] as const)
        expect((await reader.read(given[kind](written), never()))._unsafeUnwrap()).toBe(value);
    });

    test.each(['file', 'command'] as const)('an empty %s has no value', async (kind) => {
      const { reader, ...given } = start();
      const read = await reader.read(given[kind]('\n'), never());
      expect(read._unsafeUnwrapErr().kind).toBe(kind === 'file' ? 'empty' : 'no_output');
    });

    test('says what is missing', async () => {
      const { reader, missing } = start();
      const [file, command] = await Promise.all(missing.map((reference) => reader.read(reference, never())));
      expect(file?._unsafeUnwrapErr()).toMatchObject({ kind: 'unreadable', reason: 'ENOENT' });
      expect(command?._unsafeUnwrapErr()).toMatchObject({ kind: 'not_started', code: 'ENOENT' });
    });

    test('reads nothing after an abort, and leaves no listener', async () => {
      const { reader, command } = start();
      const aborted = new AbortController();
      aborted.abort();
      expect((await reader.read(command('secret'), aborted.signal))._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
      const { signal } = new AbortController();
      expect((await reader.read(command('secret'), signal)).isOk()).toBe(true);
      expectNoListener(signal);
    });
  });
}
