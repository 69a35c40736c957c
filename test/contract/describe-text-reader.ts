import { describe, expect, test } from 'vitest';
import type { TextReader } from '../../src/application/ports/readers.ts';
import { type FakeClock, settled } from '../support/fake-clock.ts';
import { expectNoListener, never } from './search-kit.ts';

const PAGE = { visible: 'The tower of the town has 42 steps, and it is red.', other: [], isCut: false };
const URL = 'https://tower.com/';
/** A text that is still read when the time that the test controls is over. */
const LONG = `The tower has 43 steps [1](${URL}). `.repeat(5000);
const linksOf = (reader: TextReader, text: string, caller = 'alice', signal = never()) =>
  reader.read('links', [text], caller, signal);

/** What every TextReader guarantees. Its limit of time is that of the clock. */
export function describeTextReader(
  name: string,
  start: () => { readonly reader: TextReader; readonly clock: FakeClock },
): void {
  describe(`${name} as TextReader`, () => {
    test('reads the links of a text, and compares claims with a page', async () => {
      const { reader } = start();
      expect((await linksOf(reader, `It is red. It has 43 steps [1](${URL}).`))._unsafeUnwrap()).toEqual({
        kind: 'text',
        links: [{ url: URL, places: [{ line: 1, column: 28 }] }],
        claims: [{ claim: 'It has 43 steps.', place: { line: 1, column: 12 }, urls: [URL] }],
        quotes: [],
        skipped: [],
        further: 0,
      });
      const compared = await reader.read('figures', [['The tower has 43 steps.'], PAGE], 'alice', never());
      expect(compared._unsafeUnwrap()).toEqual([{ missing: ['43'], passage: { text: PAGE.visible } }]);
      const answer = `The tower of the town has 43 steps [1](${URL}).`;
      const found = await reader.read('evidence', [answer, URL, PAGE], 'alice', never());
      expect(found._unsafeUnwrap()).toEqual({ missing: ['43'], quote: PAGE.visible });
    });

    test('answers several callers at once, each with its own text', async () => {
      const { reader } = start();
      const callers = ['alice', 'bob', 'carol', 'dave', 'alice', 'bob'];
      const read = await Promise.all(callers.map((caller, at) => linksOf(reader, `${URL}${at}`, caller)));
      expect(read.map((one) => one._unsafeUnwrap())).toMatchObject(
        callers.map((_, at) => ({ links: [{ url: `${URL}${at}` }] })),
      );
    });

    test('refuses a text that takes more than five seconds, and no other', async () => {
      const { reader, clock } = start();
      const slow = linksOf(reader, LONG, 'mallory');
      await settled();
      await clock.advance(4999);
      const other = linksOf(reader, URL);
      await clock.advance(1);
      expect((await slow)._unsafeUnwrapErr()).toEqual({ kind: 'too_slow' });
      expect((await other).isOk()).toBe(true);
      expect((await linksOf(reader, URL, 'mallory')).isOk()).toBe(true);
    });

    test('ends when the signal aborts, and leaves no listener and no timer', async () => {
      const { reader, clock } = start();
      const controller = new AbortController();
      const reading = linksOf(reader, LONG, 'alice', controller.signal);
      await settled();
      controller.abort();
      expect((await reading)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
      expectNoListener(controller.signal);
      expect(clock.pendingSleeps).toBe(0);
      expect((await linksOf(reader, URL, 'alice', controller.signal))._unsafeUnwrapErr()).toEqual({
        kind: 'cancelled',
      });
    });
  });
}
