import { exportJWK, generateKeyPair, type JSONWebKeySet } from 'jose';
import { err, ok, type Result } from 'neverthrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { IssuerKeys } from '../../../../../src/adapters/outbound/oauth/issuer-keys.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** No reply. */
const HANGS = 'hangs';
const OLD = { alg: 'ES256', kid: 'old' };
const NEW = { alg: 'ES256', kid: 'new' };

let old: JSONWebKeySet;
let rotated: JSONWebKeySet;

beforeAll(async () => {
  const publish = async (kid: string) => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    return { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256' }] };
  };
  [old, rotated] = await Promise.all([publish('old'), publish('new')]);
});

/** An issuer whose reply to each attempt is `reply`, which a test may change. A text is why the keys cannot be read. */
class FakeIssuer {
  reply: JSONWebKeySet | string;
  attempts = 0;

  constructor(reply: JSONWebKeySet | string) {
    this.reply = reply;
  }

  readonly read = (signal: AbortSignal): Promise<Result<JSONWebKeySet, string>> => {
    this.attempts += 1;
    const { reply } = this;
    return new Promise((resolve) => {
      if (reply !== HANGS) resolve(typeof reply === 'string' ? err(reply) : ok(reply));
      signal.addEventListener('abort', () => resolve(err('no response in time')));
    });
  };
}

function start(reply: JSONWebKeySet | string = old) {
  const issuer = new FakeIssuer(reply);
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const keys = new IssuerKeys({ issuer: 'https://auth.example.com', clock, logger, read: issuer.read });
  /** `ok`, or the error. */
  const find = async (header: typeof OLD) =>
    (await keys.keyFor(header)).match(
      () => 'ok',
      (error) => error,
    );
  return { issuer, clock, logger, keys, find };
}

const UNKNOWN = { kind: 'invalid_token', problem: 'unknown_key' };

test('many callers share one request', async () => {
  const { issuer, find } = start();
  expect(await Promise.all(Array.from({ length: 50 }, () => find(OLD)))).toEqual(Array(50).fill('ok'));
  expect(issuer.attempts).toBe(1);
});

test('keys that were prepared need no request', async () => {
  const { issuer, keys, find } = start();
  await keys.prepare();
  expect([await find(OLD), issuer.attempts]).toEqual(['ok', 1]);
});

test('keys that were read once count as read, also if the issuer is lost', async () => {
  const { issuer, clock, keys } = start('down');
  await keys.prepare();
  expect(keys.areRead).toBe(false);
  issuer.reply = old;
  await clock.advance(10_000);
  await keys.prepare();
  expect([keys.areRead, keys.isUp]).toEqual([true, true]);
  issuer.reply = 'down';
  await clock.advance(11 * 60_000);
  await keys.prepare();
  expect([keys.areRead, keys.isUp, issuer.attempts]).toEqual([true, false, 3]);
});

describe('rotation:', () => {
  test('a new key is found, and the old one is not accepted any more', async () => {
    const { issuer, clock, find } = start();
    await find(OLD);
    issuer.reply = rotated;
    await clock.advance(10_000);
    expect(await Promise.all([find(NEW), find(NEW)])).toEqual(['ok', 'ok']);
    expect(await find(OLD)).toEqual(UNKNOWN);
    expect(issuer.attempts).toBe(2);
  });

  test('a key that was removed is accepted for ten minutes at most', async () => {
    const { issuer, clock, find } = start();
    await find(OLD);
    issuer.reply = rotated;
    await clock.advance(10 * MINUTE - 1);
    expect(await find(OLD)).toBe('ok');
    await clock.advance(1);
    expect(await find(OLD)).toEqual(UNKNOWN);
  });

  test('tokens with unknown keys cause one request every ten seconds', async () => {
    const { issuer, clock, find } = start();
    for (let second = 0; second < 60; second += 1) {
      expect(await find(NEW)).toEqual(UNKNOWN);
      await clock.advance(1000);
    }
    expect(issuer.attempts).toBe(6);
  });
});

describe('an issuer that is down', () => {
  test('is asked again after ten seconds', async () => {
    const { issuer, clock, find } = start('refused');
    expect(await find(OLD)).toEqual({ kind: 'issuer_unavailable', retryAfterMs: 10_000 });
    await clock.advance(4000);
    expect(await find(OLD)).toEqual({ kind: 'issuer_unavailable', retryAfterMs: 6000 });
    expect(issuer.attempts).toBe(1);
    issuer.reply = old;
    await clock.advance(6000);
    expect(await find(OLD)).toBe('ok');
  });

  test('is waited for five seconds', async () => {
    const hanging = start(HANGS);
    const found = hanging.find(OLD);
    await hanging.clock.advance(5000);
    expect(await found).toEqual({ kind: 'issuer_unavailable', retryAfterMs: 10_000 });
    expect(hanging.clock.pendingSleeps).toBe(0);
  });

  test('does not delay callers whose keys are known', async () => {
    const { issuer, clock, find } = start();
    await find(OLD);
    issuer.reply = 'refused';
    await clock.advance(10 * MINUTE);
    expect(await find(OLD)).toBe('ok');
    issuer.reply = HANGS;
    await clock.advance(10_000);
    expect(await find(OLD)).toBe('ok');
    expect(issuer.attempts).toBe(3);
  });

  test('has its last keys used for a day', async () => {
    const { issuer, clock, find } = start();
    await find(OLD);
    issuer.reply = 'refused';
    await clock.advance(DAY);
    expect(await find(OLD)).toBe('ok');
    await clock.advance(1);
    expect(await find(OLD)).toMatchObject({ kind: 'issuer_unavailable' });
  });

  test('may have the unknown key of a token', async () => {
    const { issuer, clock, find } = start();
    await find(OLD);
    issuer.reply = 'refused';
    await clock.advance(10_000);
    expect(await find(NEW)).toMatchObject({ kind: 'issuer_unavailable' });
    expect(await find(OLD)).toBe('ok');
  });

  test('is logged once, and so is its return', async () => {
    const { issuer, clock, logger, find } = start('https://auth.example.com/keys answered with HTTP 500');
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await find(OLD);
      await clock.advance(10_000);
    }
    issuer.reply = old;
    await find(OLD);
    await settled();
    expect(logger.lines).toEqual([
      'warn oauth: the keys of https://auth.example.com cannot be read: https://auth.example.com/keys answered with HTTP 500',
      'warn oauth: the keys of https://auth.example.com can be read again',
    ]);
  });
});
