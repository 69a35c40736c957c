import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { DEFAULTS, toConfigTree } from '../../src/adapters/outbound/config/config-tree.ts';
import { readHttpConfig } from '../../src/adapters/outbound/config/http-config.ts';
import { send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { newFile } from './files.ts';

const PAGE = readFileSync('docs/connectors.md', 'utf8');
const YAML = [...PAGE.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].map(([, , block = '']) => block);

test('the page has the configuration of each authorization server', () => {
  expect(YAML).toHaveLength(2);
  for (const block of YAML) {
    const { http } = parse(block) as { readonly http: { readonly oauth: Readonly<Record<string, unknown>> } };
    const set = Object.entries(http.oauth).map(([key, value]) => [`http.oauth.${key}`, value] as const);
    const report = (...problem: readonly unknown[]) => expect.fail(problem.join());
    expect(readHttpConfig(toConfigTree(new Map([...DEFAULTS, ...set])), {}, report)).toBeDefined();
  }
});

test('a server with the configuration of the page answers what the page shows', async () => {
  const { url, stderr } = await startHttpProcess({
    args: ['--http=127.0.0.1:0', '--offline', '--config', newFile('config.yaml', YAML[0] ?? '')],
    // Nothing leaves this machine.
    env: { HTTPS_PROXY: 'http://127.0.0.1:1' },
  });
  const headers = { Host: 'mcp.example.com' };
  const refused = await send(url, { body: '{}', headers });
  expect(refused.status).toBe(401);
  expect(PAGE).toContain(`\nwww-authenticate: ${refused.headers['www-authenticate']}\n`);
  const path = '/.well-known/oauth-protected-resource/mcp';
  const metadata = await send(new URL(path, url).href, { method: 'GET', headers });
  expect(PAGE).toContain(`\n${metadata.text}\n`);
  expect(stderr()).not.toContain('allowed_hosts');
});

test('every reason in the list is one that is logged', () => {
  const source = ['src/application/ports/token-verifier.ts', 'src/adapters/inbound/http/server/protected-resource.ts']
    .concat('src/adapters/inbound/http/server/access-log.ts', 'src/adapters/inbound/http/server/request-guard.ts')
    .map((file) => readFileSync(file, 'utf8'))
    .join('');
  const list = PAGE.slice(PAGE.indexOf('## If it does not work'));
  const reasons = [...list.matchAll(/^- (`.*?`):? /gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(?:token: )?([^`]+)`/g)].map(([, reason = '']) => reason),
  );
  expect(reasons.length).toBeGreaterThan(10);
  for (const reason of reasons) expect(source).toContain(reason);
});
