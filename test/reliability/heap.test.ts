import { expect, test } from 'vitest';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { answers, holds } from '../support/behaviours.ts';
import { begin, legacy } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';

const CALLERS = ['alice', 'bob', 'carol', 'mallory'];
const auth = (caller: string) => ({ Authorization: `Bearer token-of-${caller}-0123456789` });

/** A call whose unknown arguments take 21 times as much memory as their text. */
const largeCall = (bytes: number, id: number) => {
  const fill = '{},'.repeat(Math.floor((bytes - 300) / 3));
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"answer","arguments":{"query":"q ${id}","fill":[${fill}{}]}}}`;
};

test.for([
  ['the default size', {}, 128 * 1024, 64, 16],
  ['4 MiB, if that is configured', { MCP_HTTP_MAX_BODY_BYTES: '4194304' }, 4 * 1024 * 1024, 12, 3],
] as const)(
  'calls with large arguments of %s do not fill a heap of 256 MB',
  async ([, limits, bytes, perCaller, served]) => {
    const api = await fakeApi();
    const held = holds();
    api.replyAlways(held);
    const tokens = CALLERS.map((caller) => [`TOKEN_${caller}`, `token-of-${caller}-0123456789`] as const);
    const { url, exited } = await startHttpProcess({
      env: {
        ...apiEnv(api),
        ...limits,
        ...Object.fromEntries(tokens),
        MCP_HTTP_TOKEN_ENV: CALLERS.map((caller) => `${caller}=TOKEN_${caller}`).join(','),
        NODE_OPTIONS: '--max-old-space-size=256',
      },
    });
    let isAlive = true;
    void exited.then(() => {
      isAlive = false;
    });
    const attackers = CALLERS.slice(1).flatMap((caller) =>
      Array.from({ length: perCaller }, (_, id) =>
        begin(url, { headers: { ...auth(caller), Accept: 'application/json' }, body: largeCall(bytes, id) }),
      ),
    );
    const statuses = Promise.allSettled(attackers.map(({ reply }) => reply));
    await Promise.race([api.waitForRequests(served), exited]);
    expect(isAlive).toBe(true);
    const call = legacy('tools/call', { name: 'answer', arguments: { query: 'Is there an answer?' } });
    const ofAlice = begin(url, { headers: { ...auth('alice'), Accept: 'application/json' }, body: call });
    held.release(answers('Yes.'));
    expect((await ofAlice.reply).message.result).toBeDefined();
    const replies = await statuses;
    expect(isAlive).toBe(true);
    // A refusal may close the connection before the sender has sent everything.
    const outcomes = replies.map((reply) => (reply.status === 'fulfilled' ? reply.value.status : 'closed'));
    expect(outcomes.filter((outcome) => outcome === 200).length).toBeGreaterThanOrEqual(served);
    expect([200, 429, 'closed']).toEqual(expect.arrayContaining(outcomes));
  },
);
