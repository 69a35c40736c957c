import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { JsonObject } from '../../support/api-response.ts';
import { permitsSearch } from '../../support/fake-conversation-api.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { posixTest } from '../../support/platform.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { answerOf, apiEnv } from '../serve.ts';
import { CONVERSATION, configFile, conversationApi, PATIENTLY, SEARCH_NOTES } from './kit.ts';

posixTest('moreSignals')(
  'a public server leaves the web open, and no longer does so once it is configured as private',
  async () => {
    const api = await conversationApi();
    api.script(CONVERSATION);
    const notes = scriptedServer([SEARCH_NOTES]);
    const servers = [{ name: 'notes', command: notes.command, args: notes.args, public: true }];
    const config = configFile({
      grounding: { tools: { notes: 'all' }, callers: ['alice'] },
      more: { servers, http: { token_env: { alice: 'TOKEN_A' } } },
    });
    const env = { ...apiEnv(api), TOKEN_A: 'token-of-alice-0123' };
    const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
    const ask = async (query: string) => {
      const { message } = await send(http.url, {
        headers: { Authorization: 'Bearer token-of-alice-0123' },
        body: legacy('tools/call', { name: 'answer', arguments: { query } }),
      });
      return answerOf(message).answer;
    };
    const webs = () => api.requests.map(({ body }: { body: JsonObject }) => permitsSearch(body));

    expect(await ask('Before?')).toMatch(/^We deploy on Tuesday/);
    expect(webs()).toEqual([true, true]);

    writeFileSync(config, readFileSync(config, 'utf8').replace('"public":true', '"public":false'));
    http.kill('SIGHUP');
    await expect.poll(() => http.stderr(), PATIENTLY).toContain('the configuration was read again');
    await expect.poll(() => notes.events().filter(({ event }) => event === 'start'), PATIENTLY).toHaveLength(2);
    expect(await ask('After?')).toMatch(/^We deploy on Tuesday/);
    expect(webs()).toEqual([true, true, true, false]);
  },
);
