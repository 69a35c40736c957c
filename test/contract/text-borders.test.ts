import { writeFileSync } from 'node:fs';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { readInput } from '../../src/adapters/inbound/cli/call-tool.ts';
import { MessageReader, type ReadEvent } from '../../src/adapters/inbound/stdio/message-reader.ts';
import { readServersFile } from '../../src/adapters/outbound/config/servers-file.ts';
import { readYamlFile } from '../../src/adapters/outbound/config/yaml-file.ts';
import { oauthFetch } from '../../src/adapters/outbound/login/oauth-fetch.ts';
import { messageFetch } from '../../src/adapters/outbound/mcp-client/message-fetch.ts';
import { LineReader, readMessages } from '../../src/adapters/outbound/mcp-client/messages.ts';
import { never } from '../../src/application/async/deadline.ts';
import { lockText, parseLock } from '../../src/domain/gateway/approved-tools.ts';
import { parseJson } from '../../src/domain/values/json.ts';
import { newFile } from '../e2e/files.ts';
import { FakeClock } from '../support/fake-clock.ts';

const RESPONSE = { jsonrpc: '2.0', id: 1, result: {} };
const REQUEST = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
const fileWith = (name: string, text: string) => {
  const file = newFile(name, '');
  writeFileSync(file, text);
  return file;
};
const fetched = (type: string, text: string) =>
  messageFetch(async () => new Response(text, { headers: { 'Content-Type': type } }), 10_000)(
    'https://a.example',
    REQUEST,
  );
const noReport = (...problem: readonly unknown[]) => expect.fail(JSON.stringify(problem));

/** Each border at which JSON, or a text with JSON, comes in: how a text is read, and what is read of `value`. */
const BORDERS: Readonly<Record<string, { readonly value: object; readonly read: (text: string) => unknown }>> = {
  'a JSON text': { value: { a: 1 }, read: parseJson },
  'the lock': {
    value: JSON.parse(lockText({ servers: {} })) as object,
    read: (text) => parseLock(text) && JSON.parse(text.trim()),
  },
  'a message of a client over stdio': {
    value: RESPONSE,
    read: (text) => {
      const events: ReadEvent[] = [];
      new MessageReader((event) => events.push(event)).push(Buffer.from(`${text}\n`));
      return events.flatMap((event) => (event.kind === 'message' ? [event.value] : []))[0];
    },
  },
  'a line of a server over stdio': {
    value: RESPONSE,
    read: (text) => {
      const lines = [...new LineReader(10_000).linesOf(Buffer.from(`${text}\n`))];
      return lines.flatMap((line) => (line instanceof Buffer ? (readMessages(line.toString())?.values ?? []) : []))[0];
    },
  },
  'a response of a server over HTTP': {
    value: RESPONSE,
    read: async (text) => (await fetched('application/json', text)).json(),
  },
  'the input of a call in a file': {
    value: { a: 1 },
    read: async (text) => (await readInput(`@${fileWith('input.json', text)}`, never()))._unsafeUnwrap(),
  },
  'a file of servers': {
    value: { mcpServers: { a: { command: 'x' } } },
    read: async (text) => {
      const file = fileWith('servers.json', text);
      const [entry] = await readServersFile(file, noReport, noReport);
      return entry && { mcpServers: { a: { command: (entry.value as { command: string }).command } } };
    },
  },
  'the configuration': {
    value: { servers: [] },
    read: (text) => {
      const problems: never[] = [];
      readYamlFile(fileWith('config.yaml', text), 'config.yaml', true, problems);
      return ok(problems.length === 0 ? { servers: [] } : problems)._unsafeUnwrap();
    },
  },
  'a document of an issuer': {
    value: { access_token: 'a', token_type: 'Bearer' },
    read: async (text) => {
      const network = { fetch: async () => new Response(text), clock: new FakeClock() };
      const init = { method: 'POST', body: new URLSearchParams() };
      return (await oauthFetch('https://a.example', network, never())('https://a.example/token', init)).json();
    },
  },
};

const FORMS: Readonly<Record<string, (json: string) => string>> = {
  'as it is': (json) => json,
  'after a byte order mark': (json) => `\uFEFF${json}`,
  'between blanks': (json) => `  ${json} \t`,
  'with CRLF at its end': (json) => `${json}\r\n`,
};

const CASES = Object.entries(BORDERS).flatMap(([border, { value, read }]) =>
  Object.entries(FORMS).map(([form, toText]) => [border, form, read, toText(JSON.stringify(value)), value] as const),
);

// S60
test.each(CASES)('%s is read %s', async (_, __, read, text, value) => {
  expect(await read(text)).toEqual(value);
});

const data = (message: object) => `data: ${JSON.stringify(message)}`;
test.each([
  ['line feeds', `${data(RESPONSE)}\n\n`],
  ['carriage returns and line feeds', `event: message\r\n${data(RESPONSE)}\r\n\r\n`],
  ['carriage returns', `event: message\r${data(RESPONSE)}\r\r`],
  ['a byte order mark at its beginning', `\uFEFF${data(RESPONSE)}\n\n`],
  ['a byte order mark in its data', `data: \uFEFF${JSON.stringify(RESPONSE)}\n\n`],
  ['no empty line at its end', data(RESPONSE)],
])('an event of a server is read with %s', async (_, text) => {
  const written = await (await fetched('text/event-stream', text)).text();
  const events = written
    .split('\n')
    .flatMap((line) => (line.includes('data: ') ? [line.replace(/^.*data: /, '')] : []));
  expect(events.map(parseJson)).toEqual([RESPONSE]);
});
