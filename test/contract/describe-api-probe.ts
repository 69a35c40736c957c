import { describe, expect, test } from 'vitest';
import type { ApiProbe } from '../../src/application/ports/llm-search.ts';
import { errorOf, expectNoListener, never } from './search-kit.ts';

/** How the API behaves: it has every model, it has no list of models, it refuses the key, or it does not respond. */
export type ApiState = 'has every model' | 'lists no models' | 'refuses the key' | 'does not respond';

/** What every ApiProbe promises (see the port). */
export function describeApiProbe(name: string, start: (state: ApiState) => Promise<ApiProbe>): void {
  describe(`${name} as an ApiProbe`, () => {
    test('names the route to the API', async () => {
      expect((await start('has every model')).route).not.toBe('');
    });

    test.each(['has every model', 'refuses the key'] as const)('reaches an API that %s', async (state) => {
      const probe = await start(state);
      expect((await probe.reach(never()))._unsafeUnwrap()).toEqual(expect.any(Number));
    });

    test.each([
      ['has every model', 'found'],
      ['lists no models', 'unknown'],
    ] as const)('an API that %s: a model is %s', async (state, found) => {
      const probe = await start(state);
      expect((await probe.findModel('gpt-5.2', never()))._unsafeUnwrap()).toBe(found);
    });

    test('resolves with an error when the API refuses the key', async () => {
      const probe = await start('refuses the key');
      expect(errorOf(await probe.findModel('gpt-5.2', never()))).toMatchObject({ kind: 'rejected_api_key' });
    });

    describe.each([
      ['reach', (probe: ApiProbe, signal: AbortSignal) => probe.reach(signal)],
      ['findModel', (probe: ApiProbe, signal: AbortSignal) => probe.findModel('gpt-5.2', signal)],
    ] as const)('%s', (_, call) => {
      test('settles with `aborted` if the signal is already aborted', async () => {
        const signal = AbortSignal.abort();
        expect(errorOf(await call(await start('has every model'), signal))).toEqual({ kind: 'aborted' });
        expectNoListener(signal);
      });

      test.each(['has every model', 'does not respond'] as const)(
        'settles with `aborted` if the signal aborts after the call of an API that %s',
        async (state) => {
          const probe = await start(state);
          const controller = new AbortController();
          const outcome = call(probe, controller.signal);
          controller.abort();
          expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
          expectNoListener(controller.signal);
        },
      );
    });
  });
}
