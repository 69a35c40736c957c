import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { HmacHandleSigner } from '../../src/adapters/outbound/signing/hmac-handle-signer.ts';
import { FakeHandleSigner } from '../support/fake-handle-signer.ts';
import { describeHandleSigner } from './describe-handle-signer.ts';

describeHandleSigner('HmacHandleSigner', (apiKey) => new HmacHandleSigner(apiKey));
describeHandleSigner('FakeHandleSigner', (apiKey) => new FakeHandleSigner(apiKey));

const hmac = (key: string | Buffer, data: string | Buffer) => createHmac('sha256', key).update(data).digest();

/** HKDF-SHA256 as in RFC 5869, by its two steps, with the empty salt; 32 bytes are the first block. */
function hkdf(secret: string, info: string): Buffer {
  const extracted = hmac(Buffer.alloc(32), secret);
  return hmac(extracted, `${info}\u0001`);
}

test('handles are signed the same way everywhere, so that every version of the program accepts them', () => {
  const key = hkdf('sk-test-0123456789', 'openai-responses-mcp/long-answers/1');
  const expected = hmac(key, '["http:alice","answer_detailed","resp_1"]').subarray(0, 16).toString('base64url');
  const signer = new HmacHandleSigner('sk-test-0123456789');
  expect(signer.sign(['http:alice', 'answer_detailed', 'resp_1'])).toBe(expected);
  expect(expected).toBe('15JCwrq_TacpIqaF3msX-A');
});

test('handles are signed with the current key, and those of the key before are valid, too', () => {
  let keys = ['sk-first'];
  const signer = new HmacHandleSigner(() => keys);
  const first = signer.sign(['a']);
  keys = ['sk-second', 'sk-first'];
  expect(signer.verify(['a'], first)).toBe(true);
  expect(signer.sign(['a'])).toBe(new HmacHandleSigner('sk-second').sign(['a']));
  keys = ['sk-third', 'sk-second'];
  expect(signer.verify(['a'], first)).toBe(false);
});

test('before there is a key, no signature is valid', () => {
  const signer = new HmacHandleSigner(() => []);
  expect(signer.verify(['a'], signer.sign(['a']))).toBe(false);
});
