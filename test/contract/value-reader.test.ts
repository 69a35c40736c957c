import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LocalValues } from '../../src/adapters/outbound/values/local-values.ts';
import type { ValueReference } from '../../src/application/ports/values.ts';
import { newFolder } from '../e2e/files.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { FakeValueReader } from '../support/fake-value-reader.ts';
import { posixTest } from '../support/platform.ts';
import { until } from '../support/until.ts';
import { describeValueReader } from './describe-value-reader.ts';
import { never } from './search-kit.ts';

const node = (script: string, folder = process.cwd()): ValueReference => ({
  kind: 'command',
  words: [process.execPath, '-e', script],
  folder,
});
const prints = (output: string) => node(`process.stdout.write(${JSON.stringify(output)})`);

function start() {
  const clock = new FakeClock();
  const folder = newFolder();
  let files = 0;
  const file = (content: string): ValueReference => {
    files += 1;
    const path = join(folder, `value-${files}`);
    writeFileSync(path, content);
    return { kind: 'file', path };
  };
  const missing: readonly [ValueReference, ValueReference] = [
    { kind: 'file', path: join(folder, 'missing') },
    { kind: 'command', words: ['no-such-command-of-this-test'], folder },
  ];
  const reader = new LocalValues({ clock, environment: { ...process.env, OF_PROGRAM: 'inherited' } });
  return { clock, reader, file, command: prints, missing, folder };
}

describeValueReader('LocalValues', start);
describeValueReader('FakeValueReader', () => {
  const values: Record<string, string> = {};
  const file = (content: string): ValueReference => {
    values[content] = content;
    return { kind: 'file', path: content };
  };
  const command = (output: string): ValueReference => {
    values[output] = output;
    return { kind: 'command', words: [output], folder: '/' };
  };
  const missing = [
    { kind: 'file', path: '/missing' },
    { kind: 'command', words: ['missing'], folder: '/' },
  ] as const;
  return { reader: new FakeValueReader(values), file, command, missing };
});

test('a command runs in its folder, with the environment of the program, and its words mean nothing to a shell', async () => {
  const { reader, folder } = start();
  const script = 'console.log(JSON.stringify([process.cwd(), process.env.OF_PROGRAM, process.argv[1]]))';
  const words = [process.execPath, '-e', script, '$HOME | *'];
  const read = await reader.read({ kind: 'command', words, folder }, never());
  expect(JSON.parse(read._unsafeUnwrap())).toEqual([folder, 'inherited', '$HOME | *']);
});

test('a command that reads its standard input finds its end', async () => {
  const { reader } = start();
  const read = await reader.read(node('process.stdin.on("end", () => console.log("ended")).resume()'), never());
  expect(read._unsafeUnwrap()).toBe('ended');
});

test('a failure has the exit code and the last line of the standard error, and never the output', async () => {
  const { reader } = start();
  const script = 'console.log("sk-secret"); console.error("one\\nnot signed in\\n"); process.exitCode = 7';
  const failed = (await reader.read(node(script), never()))._unsafeUnwrapErr();
  expect(failed).toEqual({ kind: 'failed', command: process.execPath, code: '7', lastLine: 'not signed in' });
});

test('a command that prints nothing has no value', async () => {
  const { reader } = start();
  const failed = (await reader.read(node('console.error("locked")'), never()))._unsafeUnwrapErr();
  expect(failed).toEqual({ kind: 'no_output', command: process.execPath, code: '0', lastLine: 'locked' });
});

test('an output of more than 64 kB is no value', async () => {
  const { reader } = start();
  expect((await reader.read(prints('x'.repeat(65_536)), never()))._unsafeUnwrap()).toHaveLength(65_536);
  const endless = node('setInterval(() => process.stdout.write("x".repeat(10_000)), 1)');
  expect((await reader.read(endless, never()))._unsafeUnwrapErr().kind).toBe('too_large');
});

posixTest('moreSignals')('after 30 s, a command and what it has started are ended', async () => {
  const { reader, clock, folder } = start();
  const pids = join(folder, 'pids');
  const script = `const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    require('fs').writeFileSync(${JSON.stringify(pids)}, process.pid + ' ' + child.pid + ' .');
    setInterval(() => {}, 1000);`;
  const reading = reader.read(node(script), never());
  const started = () => readIfPresent(pids).endsWith('.');
  await until(started);
  await settled();
  clock.advance(29_999);
  await settled();
  clock.advance(1);
  const failed = (await reading)._unsafeUnwrapErr();
  expect(failed.kind).toBe('timed_out');
  const [program, child] = readIfPresent(pids).split(' ').map(Number);
  await until(() => !isRunning(program) && !isRunning(child));
});

posixTest('moreSignals')('an abort ends the command', async () => {
  const { reader } = start();
  const aborting = new AbortController();
  const reading = reader.read(node('setInterval(() => {}, 1000)'), aborting.signal);
  aborting.abort();
  expect((await reading)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
});

posixTest('moreSignals')('a process that keeps the output open does not hold up the value', async () => {
  const { reader, clock } = start();
  const script = `const { spawn } = require('child_process');
    spawn('sleep', ['5'], { stdio: ['ignore', 'inherit', 'ignore'], detached: true }).unref();
    console.log('secret');`;
  const reading = reader.read(node(script), never());
  await until(() => clock.slept.includes(500));
  clock.advance(500);
  expect((await reading)._unsafeUnwrap()).toBe('secret');
});

const readIfPresent = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

function isRunning(pid = 0): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
