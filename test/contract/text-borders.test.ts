import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { readInput } from '../../src/adapters/inbound/cli/call-input.ts';
import { MessageReader, type ReadEvent } from '../../src/adapters/inbound/stdio/message-reader.ts';
import { readTokenFile } from '../../src/adapters/outbound/config/http-config.ts';
import { readLock } from '../../src/adapters/outbound/config/named-files.ts';
import { readApiKey } from '../../src/adapters/outbound/config/secrets.ts';
import { readServersFile } from '../../src/adapters/outbound/config/servers-file.ts';
import { readYamlFile } from '../../src/adapters/outbound/config/yaml-file.ts';
import { DefinitionFiles } from '../../src/adapters/outbound/definitions/definition-files.ts';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { oauthFetch } from '../../src/adapters/outbound/login/oauth-fetch.ts';
import { messageFetch } from '../../src/adapters/outbound/mcp-client/message-fetch.ts';
import { LineReader, readMessages } from '../../src/adapters/outbound/mcp-client/messages.ts';
import { readKeySet } from '../../src/adapters/outbound/oauth/issuer-keys.ts';
import { parseRecording } from '../../src/adapters/outbound/openai/recordings/recording.ts';
import { never } from '../../src/application/async/deadline.ts';
import { lockText, parseLock } from '../../src/domain/gateway/approved-tools.ts';
import { parseJson } from '../../src/domain/values/json.ts';
import { newFile, newFolder } from '../e2e/files.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loginAt } from '../support/fake-issuer.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { DEFINITIONS } from './describe-kept-definitions.ts';

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

interface Border {
  readonly value: unknown;
  /** The text of `value`; JSON unless it is given. */
  readonly text?: string;
  readonly read: (text: string) => unknown;
}

const HASH = 'ab'.repeat(32);
const KEY_SET = { keys: [{ kty: 'OKP', kid: 'a' }] };
const LOGIN = loginAt('https://auth.example.com');
const SERVER = 'https://notes.example.com/mcp';

/** Each border at which JSON, or a text of a person, comes in: how a text is read, and what is read of `value`. */
const BORDERS: Readonly<Record<string, Border>> = {
  'a JSON text': { value: { a: 1 }, read: parseJson },
  'the lock': {
    value: JSON.parse(lockText({ servers: {} })) as object,
    read: (text) => parseLock(text) && JSON.parse(text.trim()),
  },
  'the file of the lock': {
    value: { servers: {} },
    text: lockText({ servers: {} }),
    read: (text) => readLock(fileWith('gateway.lock', text), undefined, noReport).approved,
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
  'the input of a call on the command line': {
    value: { a: 1 },
    read: async (text) => (await readInput(text, never()))._unsafeUnwrap(),
  },
  'the input of a call in a file': {
    value: { a: 1 },
    read: async (text) => (await readInput(`@${fileWith('input.json', text)}`, never()))._unsafeUnwrap(),
  },
  'a file of servers': {
    value: { mcpServers: { a: { command: 'x' } } },
    read: async (text) => {
      const file = fileWith('servers.json', text);
      const { entries } = await readServersFile(file, { environment: {}, expanded: [] }, noReport);
      const [entry] = entries;
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
  'kept lists': {
    value: DEFINITIONS,
    text: '{}',
    read: async (text) => {
      const folder = newFolder();
      const files = new DefinitionFiles(folder, { clock: new FakeClock(), logger: new RecordingLogger() });
      await files.write('a', DEFINITIONS);
      for (const name of readdirSync(folder).filter((name) => name !== 'key')) {
        const path = join(folder, name);
        const [before = '', after = ''] = text.split('{}');
        writeFileSync(path, `${before}${readFileSync(path, 'utf8')}${after}`);
      }
      return files.read('a');
    },
  },
  'a login': {
    value: LOGIN,
    read: (text) => {
      const files = new LoginFiles(newFolder(), new FakeClock());
      writeFileSync(files.pathOf({ url: SERVER, use: 'shared' }), text);
      return files.read({ url: SERVER, use: 'shared' });
    },
  },
  'the keys of an issuer': {
    value: KEY_SET,
    read: async (text) => {
      const source = { issuer: 'https://a.example', jwksUri: 'https://a.example/keys' };
      return (await readKeySet({ ...source, fetch: async () => new Response(text) }, never()))._unsafeUnwrap();
    },
  },
  'the metadata of an issuer with the place of its keys': {
    value: { issuer: 'https://a.example', jwks_uri: 'https://a.example/keys' },
    read: async (text) => {
      const seen: string[] = [];
      const fetch = async (url: unknown) => {
        seen.push(String(url));
        return new Response(seen.length === 1 ? text : JSON.stringify(KEY_SET));
      };
      const source = { issuer: 'https://a.example', jwksUri: undefined, fetch };
      return (await readKeySet(source, never()))
        .map(() => ({ issuer: source.issuer, jwks_uri: seen[1] }))
        ._unsafeUnwrap();
    },
  },
  'the tokens of callers': {
    value: [{ caller: 'alice', hash: Buffer.from(HASH, 'hex') }],
    text: `alice ${HASH}`,
    read: (text) => {
      const read = readTokenFile(fileWith('tokens', text), []);
      return 'tokens' in read ? read.tokens.map(({ caller, hash }) => ({ caller, hash })) : read.problems;
    },
  },
  'a key in a file': {
    value: 'sk-0123456789',
    text: 'sk-0123456789',
    read: (text) => readApiKey({ KEY_FILE: fileWith('key', text) }, 'KEY', noReport, noReport).apiKey,
  },
  'a recording': {
    value: [200, { status: 'completed' }],
    text: '{"status":"completed"}',
    read: (text) => {
      const { status, body } = parseRecording(text);
      return [status, JSON.parse(body)];
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
  'between empty lines': (json) => `\r\n\n${json}\n\r\n`,
  'after a byte order mark and a line': (json) => `\uFEFF\r\n ${json}\r\n`,
  'with CRLF at its end': (json) => `${json}\r\n`,
};

const CASES = Object.entries(BORDERS).flatMap(([border, { value, text = JSON.stringify(value), read }]) =>
  Object.entries(FORMS).map(([form, toText]) => [border, form, read, toText(text), value] as const),
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
