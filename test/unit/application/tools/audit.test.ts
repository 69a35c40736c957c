import { createHash } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import type { Audit } from '../../../../src/application/tools/audit.ts';
import { startAudit } from '../../../support/fake-audit.ts';
import { callerOf } from '../../../support/origins.ts';

type Options = ConstructorParameters<typeof Audit>[0];
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

type Outcome = Result<object, { readonly kind: string }>;

function startCalls(policy: Partial<Options> = {}) {
  const { audit, ...started } = startAudit({ sha256: async (text) => hashOf(text), ...policy });
  const call = { server: 'notes', tool: 'read', args: { path: 'a', all: true }, by: callerOf('alice') };
  const ended = (outcome: Outcome) =>
    outcome.isOk()
      ? { outcome: 'answered', result: outcome.value, isMade: true }
      : { outcome: outcome.error.kind, isMade: outcome.error.kind !== 'overloaded' };
  const record = (more: Partial<typeof call> = {}, run: () => Promise<Outcome> = async () => ok({ text: 'ü' })) =>
    audit.record({ ...call, ...more }, run, ended);
  return { audit, record, call, ...started };
}

const sha256 = (json: string) => `sha256:${hashOf(json)}`;

describe('the line of a call', () => {
  test('says who called what, when, and how it ended', async () => {
    const { log, clock, record } = startCalls();
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=b' };
    const by = callerOf('alice', { door: 'rest', requestId: 'r-1', trace });
    const recorded = await record({ by }, async () => {
      await clock.advance(12.4);
      return ok({ text: 'ü' });
    });
    expect(recorded).toEqual(ok({ text: 'ü' }));
    expect(log.lines).toEqual([
      '{"time":"2026-01-05T03:00:00.000Z","id":"line-1","request_id":"r-1","caller":"alice","door":"rest","server":"notes","tool":"read","outcome":"answered","ms":12,"bytes":13,"arguments":["all","path"],"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}',
    ]);
  });

  test('has no size without a result, and no members that are not known', async () => {
    const { log, record } = startCalls();
    await record({ by: callerOf('alice', { door: 'answer', answer: 'line-0' }) }, async () => err({ kind: 'crashed' }));
    expect(log.lines).toEqual([
      '{"time":"2026-01-05T03:00:00.000Z","id":"line-1","caller":"alice","door":"answer","answer":"line-0","server":"notes","tool":"read","outcome":"crashed","ms":0,"arguments":["all","path"]}',
    ]);
  });

  test('shortens names', async () => {
    const { log, record } = startCalls();
    await record({ server: 's'.repeat(300), tool: `t\n${'ü'.repeat(300)}` });
    const [{ server, tool } = {}] = log.entries;
    expect([server, tool]).toEqual([`${'s'.repeat(199)}…`, `t\n${'ü'.repeat(197)}…`]);
  });

  test('is written for an exception, which is passed on', async () => {
    const { log, record } = startCalls();
    await expect(record({}, () => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    expect(log.entries).toMatchObject([{ outcome: 'internal_error' }]);
  });

  // S66
  test('that was begun has another line before, without an end', async () => {
    const { audit, call, log } = startCalls();
    await audit.record(
      call,
      async (line) => {
        expect(await line.begin()).toEqual(ok());
        expect(log.entries).toMatchObject([{ id: 'line-1', tool: 'read', outcome: 'begun' }]);
        return ok({});
      },
      () => ({ outcome: 'answered', isMade: true }),
    );
    expect(log.entries.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['line-1', 'begun'],
      ['line-1', 'answered'],
    ]);
  });
});

describe('the arguments', () => {
  const ARGS = { b: { y: [{ d: 1, c: 2 }], z: null, f: true }, a: 'sk-secret-0123456789 and value-of-env' };
  const shownBy = async (policy: Options['arguments'], args: object = ARGS) => {
    const { log, record, redactor } = startCalls({ arguments: policy });
    redactor.learn({ ofServers: ['value-of-env'] });
    await record({ args: args as never });
    expect(log.lines[0]?.length).toBeLessThanOrEqual(64 * 1024 - 1);
    return log.entries[0]?.arguments;
  };

  test('are not written, or only their names', async () => {
    expect(await shownBy('none')).toBeUndefined();
    expect(await shownBy('names')).toEqual(['a', 'b']);
  });

  test('are a hash of their JSON with sorted keys', async () => {
    const sorted = '{"a":"sk-secret-0123456789 and value-of-env","b":{"f":true,"y":[{"c":2,"d":1}],"z":null}}';
    expect(await shownBy('hash')).toBe(sha256(sorted));
  });

  test('are complete, without keys and the secrets of servers', async () => {
    expect(await shownBy('full')).toEqual({ ...ARGS, a: '[redacted] and [redacted]' });
  });

  test.each(['names', 'full'] as const)('with %s, a line that is long by its names has the hash', async (policy) => {
    const long = { ['n'.repeat(70_000)]: 1 };
    expect(await shownBy(policy, long)).toBe(sha256(JSON.stringify(long)));
  });

  test('are cut if a value is long, with the hash of all', async () => {
    const { log, record } = startCalls({ arguments: 'full' });
    const args = { padding: 'x'.repeat(70_000), list: [1, 2], path: '/etc/passwd' };
    await record({ args: args as never });
    const [{ arguments: shown, arguments_hash } = {}] = log.entries;
    expect(shown).toEqual({ padding: `"${'x'.repeat(998)}…`, list: [1, 2], path: '/etc/passwd' });
    expect(arguments_hash).toBe(sha256(`{"list":[1,2],"padding":"${args.padding}","path":"/etc/passwd"}`));
  });
});

describe('a log that cannot be written', () => {
  const UNAVAILABLE = err({ kind: 'audit_unavailable' });

  // S66
  test('refuses calls before they are made, and withholds the result of one that was made', async () => {
    const { audit, log, record, logger } = startCalls();
    const run = vi.fn(async () => ok({}));
    log.failure = 'ENOSPC';
    // The log has not failed yet, so that the first call is made.
    expect(await record({}, run)).toEqual(err({ kind: 'unrecorded' }));
    expect(run).toHaveBeenCalledTimes(1);
    expect(await record({}, run)).toEqual(UNAVAILABLE);
    expect(run).toHaveBeenCalledTimes(1);
    expect([audit.failures, logger.lines]).toEqual([
      2,
      ['warn audit: the file cannot be written: ENOSPC (audit.on_failure: refuse)'],
    ]);
    log.failure = undefined;
    expect(await record({}, run)).toEqual(ok({}));
    // That of the call that was not made is not there.
    expect(log.entries.map(({ id }) => id)).toEqual(['line-1', 'line-3']);
  });

  // S66
  test.each([
    ['that failed after it was sent', 'crashed', 'unrecorded'],
    ['that was not sent', 'overloaded', 'audit_unavailable'],
  ])('a call %s can be distinguished', async (_, kind, expected) => {
    const { log, record } = startCalls();
    log.failure = 'ENOSPC';
    expect(await record({}, async () => err({ kind }))).toEqual(err({ kind: expected }));
  });

  // S66
  test('a call whose first line cannot be written is not made', async () => {
    const { audit, log, call } = startCalls();
    const outcome = await audit.record(
      call,
      async (line) => {
        log.failure = 'ENOSPC';
        return line.begin();
      },
      (begun) => ({ outcome: 'x', isMade: begun.isOk() }),
    );
    expect(outcome).toEqual(UNAVAILABLE);
  });

  test('with `allow`, serves calls, and warns once per minute', async () => {
    const { audit, log, clock, record, logger } = startCalls({ onFailure: 'allow' });
    log.failure = 'EACCES';
    for (let seconds = 0; seconds < 120; seconds += 20) {
      expect((await record()).isOk()).toBe(true);
      await clock.advance(20_000);
    }
    expect([audit.failures, logger.lines.length]).toEqual([6, 2]);
    log.failure = undefined;
    await record();
    expect(log.lines).toHaveLength(7);
  });

  test('a write in progress refuses nothing, and each result waits for its own line', async () => {
    const { log, record } = startCalls();
    const writes: (() => void)[] = [];
    log.wait = () => new Promise<void>((resolve) => writes.push(resolve));
    const settled: number[] = [];
    const calls = [1, 2].map((number) => record().then(() => settled.push(number)));
    await expect.poll(() => writes.length).toBe(2);
    expect(settled).toEqual([]);
    writes[1]?.();
    await calls[1];
    expect(settled).toEqual([2]);
    writes[0]?.();
    await calls[0];
  });

  test('that it cannot be opened is a warning', async () => {
    const { audit, log, logger } = startCalls();
    log.failure = 'ENOENT';
    await audit.open();
    expect([audit.failures, logger.lines.length]).toEqual([0, 1]);
  });
});
