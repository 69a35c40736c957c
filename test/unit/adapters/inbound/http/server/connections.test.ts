import { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Connections } from '../../../../../../src/adapters/inbound/http/server/connections.ts';
import { settled } from '../../../../../support/fake-clock.ts';

/** Opens connections, and begins requests on them. */
function start() {
  const server = new Server();
  const connections = new Connections(server, 60_000, 60_000);
  onTestFinished(() => void server.emit('close'));
  const open = () => {
    const socket = new Socket();
    server.emit('connection', socket);
    return socket;
  };
  const beginOn = (socket: Socket) => {
    const request = new IncomingMessage(socket);
    return connections.begin(request, new ServerResponse(request));
  };
  const begin = (socket: Socket) => {
    const signal = beginOn(socket);
    if (signal === undefined) throw new Error('The request is not served.');
    return signal;
  };
  return { open, begin, beginOn };
}

test('the signal of a request aborts when the connection closes', () => {
  const { open, begin } = start();
  const socket = open();
  const signal = begin(socket);
  expect(signal.aborted).toBe(false);
  socket.emit('close');
  expect(signal.aborted).toBe(true);
});

test('it is the same signal for all requests of a connection, with one listener', () => {
  const { open, begin } = start();
  const socket = open();
  const before = socket.listenerCount('close');
  const signal = begin(socket);
  expect(begin(socket)).toBe(signal);
  expect(socket.listenerCount('close')).toBe(before);
  expect(begin(open())).not.toBe(signal);
});

test('no request is served on a connection that was already closed', () => {
  const { open, beginOn } = start();
  const socket = open();
  socket.destroy();
  expect(beginOn(socket)).toBeUndefined();
  socket.emit('close');
  expect(beginOn(socket)).toBeUndefined();
});

test('any number of requests in progress is allowed without a warning', async () => {
  const { open, begin } = start();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const socket = open();
  for (let count = 0; count < 100; count += 1) begin(socket).addEventListener('abort', () => {});
  await settled();
  expect(warnings).toEqual([]);
});
