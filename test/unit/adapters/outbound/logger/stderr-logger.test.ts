import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type LogForm,
  StandardError,
  StderrLogger,
  type StderrLoggerOptions,
} from '../../../../../src/adapters/outbound/logger/stderr-logger.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';
import { posixTest } from '../../../../support/platform.ts';
import { redactorOf } from '../../../../support/redactor.ts';

let folder = '';
let written = '';
const realWrite = process.stderr.write;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'logger-'));
  written = '';
  process.stderr.write = (text: string | Uint8Array) => {
    written += String(text);
    return true;
  };
});

afterEach(() => {
  process.stderr.write = realWrite;
  rmSync(folder, { recursive: true });
});

const common = { redactor: redactorOf('gateway-token-1'), clock: new FakeClock('2026-01-05T03:00:00Z') };
const standardError = (form: LogForm) => Object.assign(new StandardError(common), { form });

const logger = (over: Partial<StderrLoggerOptions> = {}) =>
  new StderrLogger({ ...common, debug: false, stderr: standardError('text'), ...over });

test('a line has the program, the time and the level', () => {
  logger().warn('careful');
  logger().error('broken');
  expect(written).toBe(
    '[openai-responses-mcp] 2026-01-05T03:00:00.000Z WARN careful\n[openai-responses-mcp] 2026-01-05T03:00:00.000Z ERROR broken\n',
  );
});

test('a line of JSON has the time, the level and the message', () => {
  const stderr = standardError('json');
  const one = logger({ debug: true, stderr });
  for (const level of ['debug', 'warn', 'error'] as const) one[level]('a "quoted"\nline with gateway-token-1');
  stderr.say('info', 'Serving.\nTwo lines.\n');
  stderr.record({ caller: 'alice', tool: 'gateway-token-1', ms: 5 });
  const time = '2026-01-05T03:00:00.000Z';
  const message = 'a "quoted"\\nline with [redacted]';
  expect(
    written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { time, level: 'debug', message },
    { time, level: 'warn', message },
    { time, level: 'error', message },
    { time, level: 'info', message: 'Serving.\nTwo lines.' },
    { time, level: 'info', caller: 'alice', tool: '[redacted]', ms: 5 },
  ]);
});

test('as text, messages and records are written as they are, without secrets', () => {
  const stderr = standardError('text');
  stderr.say('info', 'Serving.\nTwo \u001B[31mlines with gateway-token-1.\n');
  stderr.record({ caller: 'alice', tool: 'gateway-token-1' });
  expect(written).toBe('Serving.\nTwo lines with [redacted].\n{"caller":"alice","tool":"[redacted]"}\n');
});

test('a line remains one line, and does not control the terminal', () => {
  logger().warn('a\n[openai-responses-mcp] b\r\n\u001B[31mc\u202E\u{E0041}\u2028d');
  expect(written).toBe('[openai-responses-mcp] 2026-01-05T03:00:00.000Z WARN a\\n[openai-responses-mcp] b\\nc\\nd\n');
});

test('a warning or an error has at most 1000 characters, which contain no part of a key', () => {
  const one = logger({ debug: true });
  const text = `${'x'.repeat(990)}gateway-token-1${'x'.repeat(100_000)}`;
  for (const level of ['warn', 'error'] as const) one[level](text);
  expect(written.match(/ (?:WARN|ERROR) x{990}\[redacted…\n/g)).toHaveLength(2);
  one.debug(text);
  expect(written.length).toBeGreaterThan(100_000);
});

test('keys are removed from every line', () => {
  const one = logger({ debug: true });
  for (const level of ['debug', 'warn', 'error'] as const) one[level]('gateway-token-1 sk-proj-abcdef');
  expect(written.match(/ \[redacted\] \[redacted\]\n/g)).toHaveLength(3);
});

describe('a debug file', () => {
  const path = () => join(folder, 'debug.log');

  test('contains what standard error received, after its earlier content', () => {
    for (const line of ['one', 'two']) {
      const one = logger({ debug: true, debugFile: path() });
      one.debug(line);
      one.close();
    }
    expect(readFileSync(path(), 'utf8')).toBe(written);
    expect(written).toMatch(/ DEBUG one\n.* DEBUG two\n$/);
  });

  posixTest('modes')('is readable for its owner only', () => {
    logger({ debug: true, debugFile: path() }).close();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test('is not created without debug', () => {
    logger({ debugFile: path() }).warn('careful');
    expect(() => statSync(path())).toThrow('ENOENT');
  });

  test('that cannot be opened throws', () => {
    expect(() => logger({ debug: true, debugFile: join(folder, 'no/debug.log') })).toThrow('ENOENT');
  });
});

test('a log that cannot be written stops nothing', () => {
  process.stderr.write = () => {
    throw new Error('EPIPE');
  };
  expect(() => logger().error('broken')).not.toThrow();
});

test('lines are discarded while nobody reads standard error', () => {
  let unread = 0;
  Object.defineProperty(process.stderr, 'writableLength', { configurable: true, get: () => unread });
  onTestFinished(() => void Reflect.deleteProperty(process.stderr, 'writableLength'));
  for (const [length, line] of [
    [1024 * 1024 - 1, 'one'],
    [1024 * 1024, 'two'],
    [0, 'three'],
  ] as const) {
    unread = length;
    logger().warn(line);
  }
  expect(written.match(/WARN .*/g)).toEqual(['WARN one', 'WARN three']);
});

posixTest('modes')('a debug file that others can open is a warning', () => {
  const debugFile = join(folder, 'debug.log');
  writeFileSync(debugFile, '', { mode: 0o644 });
  logger({ debug: true, debugFile }).close();
  expect(written).toContain(`WARN other users can open the debug file, whose mode is 0644: ${debugFile}`);
});

posixTest('modes')('a debug file of another user is refused', () => {
  const debugFile = join(folder, 'debug.log');
  writeFileSync(debugFile, '');
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(statSync(debugFile).uid + 1);
  onTestFinished(() => getuid.mockRestore());
  expect(() => logger({ debug: true, debugFile })).toThrow('it belongs to another user');
});

const MIB = 1024 * 1024;

/** A log whose reader reads only what the test reads. */
function start() {
  const output = new PassThrough();
  const stderr = new StandardError(common, output);
  const logger = new StderrLogger({ ...common, debug: false, stderr });
  const read = async () => {
    let text = '';
    for (let part = output.read(); part !== null; part = output.read()) {
      text += part;
      await settled();
    }
    return text.trimEnd().split('\n');
  };
  return { output, stderr, logger, read };
}

test('while nothing reads it, the log keeps a bounded part, and then says how many lines are missing', async () => {
  const { output, stderr, logger, read } = start();
  const times = 50_000;
  for (let line = 0; line < times; line += 1) {
    stderr.record({ line });
    logger.warn('a');
  }
  stderr.say('info', 'two\nlines');
  expect(output.writableLength).toBeLessThan(2 * MIB);
  const lines = await read();
  const last = /^log: lines missing here, because standard error was not read: (\d+)$/.exec(lines.at(-1) ?? '');
  expect(lines.length - 1 + Number(last?.[1])).toBe(2 * times + 2);
  stderr.say('info', 'later');
  expect(await read()).toEqual(['later']);
  expect(output.listenerCount('drain')).toBe(0);
});

test('a reader that is slow gets the number of missing lines at each gap', async () => {
  const { output, stderr, read } = start();
  const long = `${'x'.repeat(MIB / 8)}\n`;
  const gaps: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    for (let line = 0; line < 10; line += 1) stderr.write(long);
    const missing = (await read()).flatMap((line) => /missing here.*: (\d+)$/.exec(line)?.[1] ?? []);
    gaps.push(...missing.map(Number));
  }
  expect(gaps).toHaveLength(30);
  expect(output.listenerCount('drain')).toBe(0);
});

test('as JSON, the number of missing lines has the form of the log', async () => {
  const { stderr, read } = start();
  stderr.form = 'json';
  for (let line = 0; line < 3; line += 1) stderr.record({ text: 'x'.repeat(MIB) });
  const last = (await read()).at(-1) ?? '';
  expect(JSON.parse(last)).toEqual({
    time: '2026-01-05T03:00:00.000Z',
    level: 'warn',
    message: 'log: lines missing here, because standard error was not read: 2',
  });
});
