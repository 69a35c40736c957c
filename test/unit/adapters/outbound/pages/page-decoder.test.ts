import { expect, test } from 'vitest';
import { decoderFor } from '../../../../../src/adapters/outbound/pages/page-text.ts';

const decoded = (bytes: Buffer, contentType: string) => decoderFor(bytes, contentType).decode(bytes);
/** 東 in Shift_JIS, after a beginning. */
const shiftJis = (start: string) => Buffer.concat([Buffer.from(start), Buffer.from([0x93, 0x8c])]);

test.each([
  ['the header', shiftJis(''), 'text/html; charset="Shift_JIS"'],
  ['a <meta>', shiftJis('<meta charset="shift_jis">'), 'text/html'],
  ['an old <meta>', shiftJis('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">'), 'text/html'],
  ['a byte order mark, whatever the header says', Buffer.from('\uFEFF東', 'utf16le'), 'text/html; charset=utf-8'],
  ['the byte order mark of UTF-8', Buffer.from('\uFEFF東'), 'text/html; charset=Shift_JIS'],
  ['nothing: it is UTF-8', Buffer.from('東'), 'text/html'],
  ['an unknown name: it is UTF-8', Buffer.from('東'), 'text/html; charset=klingon'],
])('the encoding is named by %s', (_, bytes, contentType) => {
  expect(decoded(bytes, contentType)).toMatch(/東$/);
});
