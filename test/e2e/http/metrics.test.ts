import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { newFolder } from '../files.ts';
import { ROOT } from '../serve.ts';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };

posixTest('moreSignals')(
  'metrics have the version and the last reload of each part, for who has the right',
  async () => {
    const [token = '', line = ''] = (await runCli(['token', 'prometheus'])).stdout.split('\n');
    const folder = newFolder();
    const [tokens, config] = [path.join(folder, 'tokens'), path.join(folder, 'config.yaml')];
    const yaml = 'access: { prometheus: { metrics: true } }\nhttp: { token_file: tokens }\n';
    writeFileSync(tokens, line);
    writeFileSync(config, yaml);
    const startedS = Date.now() / 1000;
    const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
    const read = async () => {
      const headers = { Authorization: `Bearer ${token}` };
      const { text } = await send(new URL('/metrics', http.url).href, { method: 'GET', headers });
      const samples = [...text.matchAll(/^openai_responses_mcp_(\S+) (\S+)$/gm)];
      return Object.fromEntries(samples.map(([, name, value]) => [name, Number(value)]));
    };
    const success = (part: string) => `last_reload_successful{part="${part}"}`;
    const atStart = await read();
    expect(atStart).toMatchObject({
      [`build_info{version="${version}"}`]: 1,
      [success('configuration')]: 1,
      [success('token_file')]: 1,
    });
    const time = 'last_reload_success_timestamp_seconds{part="configuration"}';
    expect(Math.abs(Number(atStart[time]) - startedS)).toBeLessThan(600);

    writeFileSync(config, `${yaml}mistyped: 1\n`);
    writeFileSync(tokens, 'prometheus');
    http.kill('SIGHUP');
    await expect.poll(read).toMatchObject({
      [success('configuration')]: 0,
      [success('token_file')]: 0,
      [time]: atStart[time],
    });

    writeFileSync(config, yaml);
    writeFileSync(tokens, line);
    http.kill('SIGHUP');
    await expect.poll(read).toMatchObject({ [success('configuration')]: 1, [success('token_file')]: 1 });
    expect(Number((await read())[time])).toBeGreaterThan(Number(atStart[time]));
  },
);

test('metrics have the state of an issuer and of a store on which calls depend', async () => {
  const yaml =
    'http: { oauth: { issuer: "http://127.0.0.1:1", audience: "https://mcp.example.com/mcp" }, quota: { calls_per_day: 1 } }';
  const config = path.join(newFolder(), 'config.yaml');
  writeFileSync(config, yaml);
  const [token, line] = (await runCli(['token', 'prometheus'])).stdout.split('\n');
  const file = path.join(newFolder(), 'tokens');
  writeFileSync(file, String(line));
  const env = { MCP_HTTP_QUOTA_STORE: 'redis://127.0.0.1:1', MCP_HTTP_TOKEN_FILE: file };
  const { url } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
  const headers = { Authorization: `Bearer ${token}` };
  const { text } = await send(new URL('/metrics', url).href, { method: 'GET', headers });
  expect(text.match(/^openai_responses_mcp_\w+_up .*/gm)).toEqual([
    'openai_responses_mcp_issuer_up 0',
    'openai_responses_mcp_quota_store_up 0',
  ]);
});
