import fc from 'fast-check';
import { expect, test } from 'vitest';
import { traceContextOf, withTrace } from '../../../../src/domain/gateway/call-origin.ts';

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OTHER = '00-11111111111111111111111111111111-2222222222222222-00';
const FULL = { traceparent: PARENT, tracestate: 'congo=t61rcWkgMzE', baggage: 'user=alice,tier=gold' };

test('is read from a source with other members', () => {
  expect(traceContextOf({ ...FULL, progressToken: 1, host: 'x' })).toEqual(FULL);
  expect(traceContextOf({ traceparent: PARENT })).toEqual({ traceparent: PARENT });
});

test.each([null, [PARENT], { tracestate: 'a=b' }, { traceparent: [PARENT] }])('there is none in %j', (source) => {
  expect(traceContextOf(source)).toBeUndefined();
});

test.each([
  ['the version ff', PARENT.replace('00-', 'ff-')],
  ['capital letters', PARENT.toUpperCase()],
  ['no trace', '00-00000000000000000000000000000000-00f067aa0ba902b7-01'],
  ['no parent', '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01'],
  ['a line break', `${PARENT}\n`],
])('a traceparent with %s is dropped with its tracestate, and not with the baggage', (_, traceparent) => {
  expect(traceContextOf({ ...FULL, traceparent })).toEqual({ baggage: FULL.baggage });
});

test.each([
  ['tracestate', 512],
  ['baggage', 8192],
] as const)('a %s of more than %i characters is dropped', (name, max) => {
  const { [name]: _, ...others } = FULL;
  const longest = 'x'.repeat(max);
  expect(traceContextOf({ ...FULL, [name]: longest })).toEqual({ ...FULL, [name]: longest });
  expect(traceContextOf({ ...FULL, [name]: `${longest}x` })).toEqual(others);
});

test('the first source with a trace counts alone', () => {
  expect(traceContextOf({ traceparent: OTHER }, FULL)).toEqual({ traceparent: OTHER });
  expect(traceContextOf({ traceparent: 'no', tracestate: 'a=b', baggage: 'c=d' }, FULL)).toEqual(FULL);
  expect(traceContextOf({ baggage: 'c=d' }, { baggage: 'e=f' })).toEqual({ baggage: 'c=d' });
  expect(traceContextOf({}, { baggage: 'e=f' })).toEqual({ baggage: 'e=f' });
});

test('whatever a source has, the context can be sent in headers, and is read again as it is', () => {
  const value = fc.oneof(fc.anything(), fc.string(), fc.constantFrom(PARENT, 'a=b\r\nX: y', 'ü', ''));
  const source = fc.record({ traceparent: value, tracestate: value, baggage: value }, { requiredKeys: [] });
  fc.assert(
    fc.property(source, source, (first, second) => {
      const context = traceContextOf(first, second);
      if (context === undefined) return;
      expect(() => new Headers({ ...context })).not.toThrow();
      expect(traceContextOf(context)).toEqual(context);
      expect([first, second]).toContainEqual(expect.objectContaining(context));
      expect(context.tracestate === undefined || context.traceparent !== undefined).toBe(true);
    }),
  );
});

test('a request without a trace is sent as it is', () => {
  const params = { name: 'echo' };
  expect(withTrace(params, undefined)).toBe(params);
  expect(withTrace(params, FULL)).toEqual({ name: 'echo', _meta: FULL });
});
