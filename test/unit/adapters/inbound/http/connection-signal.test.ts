import { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectionSignal } from '../../../../../src/adapters/inbound/http/connection-signal.ts';
import { settled } from '../../../../support/fake-clock.ts';

test('aborts when the connection closes', () => {
  const socket = new Socket();
  const signal = connectionSignal(socket);
  expect(signal.aborted).toBe(false);
  socket.emit('close');
  expect(signal.aborted).toBe(true);
});

test('is the same signal for all requests of a connection, with one listener', () => {
  const socket = new Socket();
  const before = socket.listenerCount('close');
  const signal = connectionSignal(socket);
  expect(connectionSignal(socket)).toBe(signal);
  expect(socket.listenerCount('close')).toBe(before + 1);
  expect(connectionSignal(new Socket())).not.toBe(signal);
});

test('is aborted if the connection was already closed', () => {
  const socket = new Socket();
  socket.destroy();
  expect(connectionSignal(socket).aborted).toBe(true);
});

test('allows any number of requests in progress without a warning', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const signal = connectionSignal(new Socket());
  for (let count = 0; count < 100; count += 1) signal.addEventListener('abort', () => {});
  await settled();
  expect(warnings).toEqual([]);
});
