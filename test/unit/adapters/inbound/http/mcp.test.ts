import { expect, test } from 'vitest';
import { decodeHeader } from '../../../../../src/adapters/inbound/http/mcp.ts';

test.each([
  ['answer', 'answer'],
  ['=?base64?YW5zd2Vy?=', 'answer'],
  ['=?base64?5pel5pys?=', '日本'],
  ['=?base64??=', ''],
  ['=?base64?/w==?=', undefined],
  ['=?base64?YW 5z?=', undefined],
  ['=?base64?YW5-?=', undefined],
])('reads the header value %s as %s', (value, expected) => {
  expect(decodeHeader(value)).toBe(expected);
});
