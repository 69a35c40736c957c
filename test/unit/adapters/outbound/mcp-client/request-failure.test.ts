import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { toConnectFailure, toRequestFailure } from '../../../../../src/adapters/outbound/mcp-client/request-failure.ts';

const refused = (status: number, text: unknown) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'refused', { status, text });
const reasonOf = (status: number, text: unknown) => toConnectFailure(refused(status, text)).reason;
const rpcError = (message: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } });

// The first reason is what a person can act on.
describe("a reason has the start of the server's own text", () => {
  test.each([
    ['a line', 'the tenant is suspended', 'the tenant is suspended'],
    ['between blanks', '\uFEFF\r\n  the tenant\r\nis suspended \n', 'the tenant is suspended'],
    ['the message of a JSON-RPC error', rpcError('the tenant is suspended'), 'the tenant is suspended'],
    ['other JSON', '{"error":"suspended"}', '{"error":"suspended"}'],
    ['characters that control a terminal', 'sus\u001B[31mpended\u202E', 'suspended'],
  ])('%s', (_, text, words) => {
    expect(reasonOf(400, text)).toBe(`the server answered with HTTP 400: ${words}`);
    const { reason } = toRequestFailure(refused(500, text), { maxBytes: 1000, lostReason: () => 'lost' });
    expect(reason).toBe(`the server answered with HTTP 500: ${words}`);
  });

  test('of at most 200 characters', () => {
    expect(reasonOf(500, 'x'.repeat(100_000))).toBe(`the server answered with HTTP 500: ${'x'.repeat(199)}…`);
  });

  test.each([
    ['there is none', ''],
    ['there are only blanks', ' \r\n\t'],
    ['it is a page', '<!doctype html><title>502 Bad Gateway</title>'],
    ['it is a page after a byte order mark and a line', '\uFEFF\r\n<html><h1>nginx</h1></html>'],
    ['nothing was kept', undefined],
    ['it is not a text', { a: 1 }],
  ])('but not if %s', (_, text) => {
    expect(reasonOf(502, text)).toBe('the server answered with HTTP 502');
  });

  test.each([
    [401, 'the server did not accept the credentials (HTTP 401): no; check its headers'],
    [403, 'the server did not accept the credentials (HTTP 403): no; check its headers'],
    [307, 'the server redirects to another origin (HTTP 307), which is refused; check its url'],
  ])('and for HTTP %d what to do', (status, reason) => {
    expect(reasonOf(status, 'no')).toBe(reason);
  });
});
