import { expect, test } from 'vitest';
import { curlCommand, messagesOf } from '../../../../../../src/adapters/inbound/http/page/calls.ts';
import { matching } from '../../../../../../src/adapters/inbound/http/page/filter.ts';
import { webHref } from '../../../../../../src/adapters/inbound/http/page/web-link.ts';

test.each([
  [false, `curl 'http://a.example/x' -H 'Content-Type: application/json' \\\n  -d '{"a":"it'\\''s"}'`],
  [
    true,
    `curl 'http://a.example/x' -H 'Content-Type: application/json' -H "Authorization: Bearer $TOKEN" \\\n  -d '{"a":"it'\\''s"}'`,
  ],
])('a call is a command for a shell; with a token: %s', (needsToken, command) => {
  expect(curlCommand('http://a.example/x', { a: "it's" }, needsToken)).toBe(command);
});

test.each([
  ['BROWS', ['browser_click', 'open']],
  ['notes', ['search']],
  ['nothing', []],
  ['', ['browser_click', 'open', 'search']],
])('the filter %j finds tools by server, name, title and description', (query, found) => {
  const tools = [
    { server: 'web', name: 'browser_click', description: '', inputSchema: {} },
    { server: 'web', name: 'open', title: 'Open a browser', description: '', inputSchema: {} },
    { server: 'notes', name: 'search', description: 'Finds', inputSchema: {} },
  ];
  expect(matching(tools, query).map(({ name }) => name)).toEqual(found);
});

test.each([
  ['https://a.example/x', 'https://a.example/x'],
  ['https://bank.example:secret@a.example/', 'https://a.example/'],
  ['HTTP:\\\\user@a.example', undefined],
  ['javascript:alert(1)', undefined],
  ['https://', undefined],
  [{ toString: 1 }, undefined],
])('%j leads to %j', (url, href) => {
  expect(webHref(url)).toBe(href);
});

const MESSAGE = { jsonrpc: '2.0', id: 1, result: {} };

async function read(body: string, type: string) {
  const messages = [];
  for await (const message of messagesOf(new Response(body, { headers: { 'Content-Type': type }, status: 502 })))
    messages.push(message);
  return messages;
}

test('the messages of a response are its only one, or its events until it breaks', async () => {
  expect(await read(JSON.stringify(MESSAGE), 'application/json')).toEqual([MESSAGE]);
  expect(await read('<html>', 'text/html')).toEqual([{ error: { message: 'HTTP 502' } }]);
  const events = read(`: ping\n\ndata: ${JSON.stringify(MESSAGE)}\n\n`, 'text/event-stream');
  await expect(events).rejects.toThrow('the connection ended before the answer.');
});
