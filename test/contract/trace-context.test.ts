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

const { baggage: _, ...PARENT } = TRACE;

describe.each(KINDS)('a server over %s', (kind, start, transport) => {
  async function tracedCall(trace: Partial<typeof TRACE> | undefined, forwardBaggage: boolean) {
    const peer = await start(new StandardTools());
    const options = { name: 'remote', url: peer.url, transport, headers: { baggage: 'static=1' }, maxBytes: 1_000_000 };
    const identity = { name: 'contract', version: '1.0.0' };
    const clock = new SystemClock();
    const server = new RemoteToolServer({ ...options, identity, clock, fetch, forwardBaggage });
    const connected = await server.connect({ onToolsChanged: () => {}, onLost: () => {} }, never());
    const connection = connected._unsafeUnwrap();
    onTestFinished(() => connection.close());
    const onProgress = () => {};
    expect((await connection.callTool('echo', { text: 'a' }, { trace, onProgress }, never())).isOk()).toBe(true);
    const traced = peer.seen.filter(({ headers }) => headers.traceparent !== undefined);
    const [seen] = peer.seen.filter(({ method }) => method === 'tools/call');
    return {
      meta: { ...seen?.meta } as Record<string, unknown>,
      headers: { ...seen?.headers },
      traced: traced.map(({ method }) => method),
    };
  }
  const isTraced = kind !== 'SSE';

  test.each([
    ['the parent of a trace', TRACE, false, PARENT, { ...PARENT, baggage: 'static=1' }],
    ['the baggage too, if that is configured', TRACE, true, TRACE, TRACE],
    ['nothing of a trace without a parent', { baggage: TRACE.baggage }, false, {}, { baggage: 'static=1' }],
  ])('gets %s', async (_, trace, forwardBaggage, meta, headers) => {
    const seen = await tracedCall(trace, forwardBaggage);
    const { progressToken, ...others } = seen.meta;
    expect(progressToken).toBeDefined();
    expect(Object.fromEntries(Object.entries(others).filter(([name]) => name in TRACE))).toEqual(meta);
    if (isTraced) expect(seen.headers).toMatchObject(headers);
    expect(seen.traced).toEqual(isTraced && 'traceparent' in meta ? ['tools/call'] : []);
  });
});
