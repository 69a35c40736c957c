import { expect, test } from 'vitest';
import { startGatewayProcess } from '../e2e/gateway/serve-gateway.ts';
import { newHome } from '../e2e/login/kit.ts';
import { signIn, startOfficialServer } from '../e2e/login/official-server.ts';
import { send } from '../support/http-client.ts';
import { HOME_VARIABLE } from '../support/platform.ts';
import { sized } from '../support/sized.ts';

const SECONDS = sized(8, 60);
const EVERY_MS = 200;

test(
  `two processes use a login with tokens of 3 s for ${SECONDS} s: no call fails, each refresh token is used once`,
  async () => {
    const { url, seen } = await startOfficialServer(3);
    const home = await newHome({ notes: url });
    await signIn(home, false);
    const start = () => startGatewayProcess(home.servers, { env: { [HOME_VARIABLE]: home.home } });
    const processes = await Promise.all([start(), start()]);
    const replies = processes.map(async (gateway) => {
      await gateway.untilState('notes', 'available');
      const calls = Array.from({ length: (SECONDS * 1000) / EVERY_MS }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * EVERY_MS));
        return gateway.call('notes', 'echo', { text: `${index}` });
      });
      return Promise.all(calls);
    });
    expect((await Promise.all(replies)).flat().filter(({ status }) => status !== 200)).toEqual([]);
    const renewals = await Promise.all(
      processes.map(async (gateway) => {
        const { text } = await send(new URL('/metrics', gateway.url).href, { method: 'GET' });
        expect(text).not.toMatch(/login_renewals_total\{.*outcome="(?:refused|failed)"/);
        return Number(/login_renewals_total\{.*outcome="renewed"\} (\d+)/.exec(text)?.[1] ?? 0);
      }),
    );
    const count = renewals.reduce((sum, number) => sum + number);
    expect(count).toBeGreaterThanOrEqual(SECONDS / 3);
    // Each renewal gave one token, beside the first, and the issuer would have ended the login at the second use of a refresh token.
    expect(new Set(seen.map(({ headers }) => headers.authorization)).size).toBeLessThanOrEqual(count + 2);
  },
  60_000 + SECONDS * 1000,
);
