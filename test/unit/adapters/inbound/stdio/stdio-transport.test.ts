import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { StdioTransport } from '../../../../../src/adapters/inbound/stdio/stdio-transport.ts';
import { FakeApplication } from '../../../../support/fake-application.ts';
import { newSession } from '../../../../support/mcp-session.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const PONG = '{"jsonrpc":"2.0","id":1,"result":{}}';

function ping(id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
}

function framed(json: string): string {
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** What the server writes for an input. */
async function outputFor(input: string, { lineMode = false, redact = (text: string) => text } = {}): Promise<string> {
  const stdin = new PassThrough();
  let output = '';
  const transport = new StdioTransport({
    session: newSession({ application: new FakeApplication() }),
    input: stdin,
    write: (text) => {
      output += text;
    },
    logger: new RecordingLogger(),
    redact,
    lineMode,
  });
  stdin.end(input);
  await transport.serve();
  return output;
}

test('responds in the framing of the client', async () => {
  expect(await outputFor(`${ping()}\n`)).toBe(`${PONG}\n`);
  expect(await outputFor(framed(ping()))).toBe(framed(PONG));
});

test('responds in lines for good after a line', async () => {
  expect(await outputFor(`${framed(ping())}${ping()}\n${framed(ping())}`)).toBe(`${framed(PONG)}${PONG}\n${PONG}\n`);
});

test('responds in lines to frames in line mode', async () => {
  expect(await outputFor(framed(ping()), { lineMode: true })).toBe(`${PONG}\n`);
});

test('a key of digits is redacted in strings and nowhere else', async () => {
  const redact = (text: string) => text.replaceAll('12345678', '[redacted]');
  const output = await outputFor(`${ping(12345678)}\n${ping('key 12345678')}\n`, { redact });
  const ids = output.split('\n', 2).map((line) => JSON.parse(line).id);
  expect(ids).toEqual([12345678, 'key [redacted]']);
});

test('malformed input is a parse error', async () => {
  expect(JSON.parse(await outputFor('not json\n'))).toMatchObject({ error: { code: -32700 } });
});
