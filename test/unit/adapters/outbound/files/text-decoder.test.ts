import { expect, test } from 'vitest';
import { decodedText } from '../../../../../src/adapters/outbound/files/text-decoder.ts';

const TEXT = 'The tower is 東京.';
const utf16 = Buffer.from(`\uFEFF${TEXT}`, 'utf16le');

// N4.9
test.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a mark', Buffer.from(`\uFEFF${TEXT}`)],
  ['UTF-16, as PowerShell writes it', utf16],
  ['UTF-16 of the other order', Buffer.from(utf16).swap16()],
  ['Shift_JIS', Buffer.concat([Buffer.from('The tower is '), Buffer.of(0x93, 0x8c, 0x8b, 0x9e), Buffer.from('.')])],
  ['EUC-JP', Buffer.concat([Buffer.from('The tower is '), Buffer.of(0xc5, 0xec, 0xb5, 0xfe), Buffer.from('.')])],
])('a file in %s is read', (_, bytes) => expect(decodedText(bytes)).toBe(TEXT));

test.each([
  ['bytes that are no text', Buffer.from('%PDF-1.7\0 a')],
  ['bytes of none of these encodings', Buffer.of(0x61, 0xff, 0x80, 0x61)],
])('%s are none', (_, bytes) => expect(decodedText(bytes)).toBeUndefined());
