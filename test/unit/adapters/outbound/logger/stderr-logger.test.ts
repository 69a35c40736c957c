import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type LogForm, StandardError } from '../../../../../src/adapters/outbound/logger/standard-error.ts';
import { StderrLogger, type StderrLoggerOptions } from '../../../../../src/adapters/outbound/logger/stderr-logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
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
