import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { RemoteToolServer } from '../../src/adapters/outbound/mcp-client/remote-tool-server.ts';
import { startModernServer, startSessionServer, startSseServer } from '../support/servers/remote-servers.ts';
import { StandardTools } from '../support/servers/standard-tools.js';
import { never } from './search-kit.ts';

const TRACE = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'congo=t61rcWkgMzE',
  baggage: 'user=alice,tier=gold',
};
const KINDS = [
  ['Streamable HTTP', startModernServer, 'http'],
  ['Streamable HTTP with sessions', startSessionServer, 'auto'],
  ['SSE', startSseServer, 'sse'],
] as const;

describe.each(KINDS)('a server over %s', (_, start, transport) => {
  test('gets the trace of a call in `_meta` and in the headers, and otherwise nothing of it', async () => {
    const peer = await start(new StandardTools());
    const options = { name: 'remote', url: peer.url, transport, headers: { baggage: 'static=1' }, maxBytes: 1_000_000 };
    const identity = { name: 'contract', version: '1.0.0' };
    const server = new RemoteToolServer({ ...options, identity, clock: new SystemClock(), fetch });
    const connected = await server.connect({ onToolsChanged: () => {}, onLost: () => {} }, never());
    const connection = connected._unsafeUnwrap();
    onTestFinished(() => connection.close());
    for (const options of [{ trace: TRACE, onProgress: () => {} }, { trace: TRACE }, {}]) {
      expect((await connection.callTool('echo', { text: 'a' }, options, never())).isOk()).toBe(true);
    }
    const [withProgress, first, second] = peer.seen.filter(({ method }) => method === 'tools/call');
    for (const seen of [withProgress, first]) expect(seen).toMatchObject({ meta: TRACE, headers: TRACE });
    expect(withProgress?.meta).toHaveProperty('progressToken');
    const { traceparent: _t, tracestate: _s, baggage: _b, ...others } = { ...first?.meta } as Partial<typeof TRACE>;
    expect(second?.meta ?? {}).toEqual(others);
    expect(second?.headers).toMatchObject({ baggage: 'static=1' });
    expect(second?.headers).not.toHaveProperty('traceparent');
    const traced = peer.seen.filter(({ method, headers }) => method !== 'tools/call' && headers.traceparent);
    expect(traced).toEqual([]);
  });
});
