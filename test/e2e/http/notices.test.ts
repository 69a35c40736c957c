import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { answers, holds } from '../../support/behaviours.ts';
import { begin, legacy } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { posixTest } from '../../support/platform.ts';
import { newFolder } from '../files.ts';
import { apiEnv, fakeApi } from '../serve.ts';

const TOKEN = 'token-itself-0123456789';
const CALL = legacy('tools/call', { name: 'answer', arguments: { query: 'q' } });
const NO_KEY = /^No usable API key: answers will fail until you set OPENAI_API_KEY/m;
const NO_HOSTS = /^Only requests with the host name localhost are accepted: .*MCP_HTTP_ALLOWED_HOSTS/m;

/** What the process wrote when it was asked to stop and has stopped: its notices. */
async function noticesOf(options: Parameters<typeof startHttpProcess>[0]): Promise<string> {
  const { stderr, kill, exited } = await startHttpProcess(options);
  kill();
  await exited;
  return stderr();
}

describe('the notices at the start', () => {
  posixTest('signals')('without a key', async () => {
    expect(await noticesOf({})).toMatch(NO_KEY);
    expect(await noticesOf({ env: { OPENAI_API_KEY: 'sk-...' } })).toMatch(NO_KEY);
    const file = path.join(newFolder(), 'config.yaml');
    writeFileSync(file, 'openai: { api_key_env: MY_KEY }\n');
    expect(await noticesOf({ args: ['--http=127.0.0.1:0', '--config', file] })).toContain('set MY_KEY (see doctor)');
  });

  posixTest('signals').each(['0.0.0.0:0', '[::]:0'])('on %s without allowed hosts', async (address) => {
    const args = [`--http=${address}`, '--offline'];
    const env = { MCP_HTTP_TOKEN: TOKEN };
    const written = await noticesOf({ args, env });
    expect(written).toMatch(NO_HOSTS);
    expect(written).not.toContain(TOKEN);
    expect(await noticesOf({ args, env: { ...env, MCP_HTTP_ALLOWED_HOSTS: 'mcp.example.com' } })).not.toMatch(NO_HOSTS);
  });
});

describe('a signal', () => {
  posixTest('signals').each(['SIGTERM', 'SIGINT'] as const)(
    '%s: the process says what it is waiting for',
    async (signal) => {
      const api = await fakeApi();
      const held = holds();
      api.reply(held);
      const env = { ...apiEnv(api), MCP_HTTP_DRAIN_MS: '59500' };
      const { url, stderr, kill, exited } = await startHttpProcess({ env });
      const { reply } = begin(url, { body: CALL });
      await api.waitForRequests(1);
      kill(signal);
      await expect.poll(stderr).toContain('Waiting up to 60 s for 1 request in flight; another signal ends it.\n');
      held.release(answers('Done.'));
      expect((await reply).status).toBe(200);
      expect(await exited).toMatchObject({ code: 0 });
    },
  );
});
