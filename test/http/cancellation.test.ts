import { connect } from 'node:net';
import { ok } from 'neverthrow';
import { expect, onTestFinished, test } from 'vitest';
import type { TokenVerifier } from '../../src/application/ports/token-verifier.ts';
import { FakeLlmSearch, hangs, replies } from '../support/fake-llm-search.ts';
import { legacy, modern } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const QUESTION = { name: 'answer', arguments: { query: 'q' } };

test.each([
  ['2025-06-18, JSON', legacy('tools/call', QUESTION)],
  ['2025-06-18, a stream', legacy('tools/call', { ...QUESTION, _meta: { progressToken: 0 } })],
  ['2026-07-28, JSON', modern('tools/call', QUESTION)],
  ['2026-07-28, a stream', modern('tools/call', QUESTION, { progressToken: 0 })],
])('a client that disconnects aborts its call upstream (%s)', async (_, message) => {
  const { configured, asked, aborted } = observedHang();
  const { begin, accessLines, untilLogged } = await serveHttp({ llmSearch: new FakeLlmSearch(configured) });
  const call = begin(message);
  await asked;
  call.leave();
  await aborted;
  await untilLogged(1);
  expect(accessLines).toMatchObject([{ method: 'tools/call', tool: 'answer', outcome: 'cancelled' }]);
});

test('the same id may be in flight many times, and a client that disconnects ends only its own call', async () => {
  const first = observedHang();
  const llmSearch = new FakeLlmSearch(first.configured, replies());
  const { begin, post } = await serveHttp({ llmSearch });
  const leaving = begin(legacy('tools/call', { name: 'answer', arguments: { query: 'one' } }, 0));
  await first.asked;
  const staying = await post(legacy('tools/call', { name: 'answer', arguments: { query: 'two' } }, 0));
  expect(staying.message.result).toBeDefined();
  leaving.leave();
  await first.aborted;
});

test.each(['2025-06-18', '2026-07-28'])('a posted cancellation does not cancel another request (%s)', async (era) => {
  const { configured, asked, signal } = observedHang();
  const { begin, post } = await serveHttp({ llmSearch: new FakeLlmSearch(configured) });
  const call = begin(era === '2026-07-28' ? modern('tools/call', QUESTION) : legacy('tools/call', QUESTION));
  await asked;
  const cancelled = await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(cancelled.status).toBe(202);
  expect(signal().aborted).toBe(false);
  call.leave();
});

test('equal questions of one caller share a search; those of two callers do not', async () => {
  const tokens = [
    { caller: 'alice', token: 'alice-token-0123456789' },
    { caller: 'bob', token: 'bob-token-0123456789' },
  ];
  const [one, two] = [observedHang(), observedHang()];
  const llmSearch = new FakeLlmSearch(one.configured, two.configured);
  const { begin } = await serveHttp({ llmSearch, http: { tokens } });
  const message = legacy('tools/call', { ...QUESTION, _meta: { progressToken: 0 } });
  const calls = [0, 0, 1].map((index) => begin(message, { Authorization: `Bearer ${tokens[index]?.token}` }));
  await Promise.all(calls.map((call) => call.until('notifications/progress')));
  await Promise.all([one.asked, two.asked]);
  expect(llmSearch.requests.map(({ by }) => by.caller).sort()).toEqual(['alice', 'bob']);
  for (const call of calls) call.leave();
  await Promise.all([one.aborted, two.aborted]);
});

/** A search that hangs, and reports when it was asked and when it was aborted. */
function observedHang() {
  let onAsked: () => void = () => {};
  let onAborted: () => void = () => {};
  let seen = new AbortController().signal;
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const aborted = new Promise<void>((resolve) => {
    onAborted = resolve;
  });
  const configured: typeof hangs = (observer, signal) => {
    seen = signal;
    signal.addEventListener('abort', () => onAborted(), { once: true });
    onAsked();
    return hangs(observer, signal);
  };
  return { configured, asked, aborted, signal: () => seen };
}

test('pipelined calls are all aborted when their connection closes', async () => {
  const hung = Array.from({ length: 15 }, observedHang);
  const { url, untilLogged, accessLines } = await serveHttp({
    llmSearch: new FakeLlmSearch(...hung.map(({ configured }) => configured)),
  });
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  for (const query of hung.keys()) {
    const body = JSON.stringify(legacy('tools/call', { name: 'answer', arguments: { query: `question ${query}` } }));
    const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nAccept: application/json`;
    socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  await Promise.all(hung.map(({ asked }) => asked));
  socket.destroy();
  await Promise.all(hung.map(({ aborted }) => aborted));
  await untilLogged(hung.length);
  expect(accessLines.map(({ status, outcome }) => [status, outcome])).toEqual(hung.map(() => [499, 'cancelled']));
  expect(warnings).toEqual([]);
});

test('a pipelined request ends, and asks nothing, if its connection closes while its token is verified', async () => {
  const { configured, asked, aborted } = observedHang();
  let onVerifying = () => {};
  let finish = () => {};
  const verifying = new Promise<void>((resolve) => {
    onVerifying = resolve;
  });
  const verifier: TokenVerifier = {
    verify: () =>
      new Promise((resolve) => {
        finish = () => resolve(ok({ caller: 'oauth:bob' }));
        onVerifying();
      }),
  };
  const { url, untilLogged, accessLines } = await serveHttp({
    llmSearch: new FakeLlmSearch(configured),
    http: {
      tokens: [{ caller: 'alice', token: 'static' }],
      oauth: { issuer: 'https://issuer.example', resource: 'https://mcp.example/mcp', scopes: [], verifier },
    },
  });
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  for (const token of ['static', 'access']) {
    const body = JSON.stringify(legacy('tools/call', QUESTION));
    const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
    socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  await Promise.all([asked, verifying]);
  socket.destroy();
  await aborted;
  finish();
  await untilLogged(2);
  const ended = new Map(accessLines.map(({ caller, status }) => [caller, status]));
  expect(Object.fromEntries(ended)).toEqual({ alice: 499, 'oauth:bob': 499 });
});
