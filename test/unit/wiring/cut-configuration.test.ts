import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../../src/adapters/outbound/config/load-config.ts';
import { rightsBy } from '../../../src/domain/gateway/access.ts';
import { EVERYTHING } from '../../../src/domain/gateway/call-origin.ts';
import { type Reloadable, serversReload } from '../../../src/wiring/servers-reload.ts';
import { settled } from '../../support/fake-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const folder = mkdtempSync(join(tmpdir(), 'cut-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SERVERS = `servers:
  - name: notes
    command: node
    tools:
      deny: [wipe]
  - name: files # ファイル
    command: node
    args:
      - files.js
      - --read-only
    tools:
      deny:
        - drop
        - wipe
`;
const OTHERS = `gateway:
  lock: tools.lock.json
http:
  token_env: { alice: TOKEN_A, bob: TOKEN_B }
access:
  alice:
    servers: all
    answers: [answer]
  bob:
    servers:
      notes: read_only
      files: []
  local:
    servers: {}
    answers: false
`;

/** What callers may use, as lines; servers that are gone, and tools that the rules of their server hide, are no longer there. */
function openTo({ access, servers = [], lock }: Reloadable): readonly string[] {
  const rightsOf = access === undefined ? () => EVERYTHING : rightsBy(access);
  const tools = servers.flatMap(({ name, filter }) =>
    ['read', 'wipe']
      .filter((tool) => !filter.deny?.includes(tool) && (filter.allow === undefined || filter.allow.includes(tool)))
      .map((tool) => ({ server: name, name: tool, annotations: { readOnlyHint: tool === 'read' } })),
  );
  const answers = { server: 'openai-responses-mcp', name: 'answer', annotations: {} };
  const open = ['alice', 'bob', 'carol', 'local'].flatMap((caller) =>
    [...tools, answers].filter(rightsOf({ caller }).mayUse).map(({ server, name }) => `${caller} ${server}/${name}`),
  );
  return lock === undefined ? [...open, 'unapproved tools'] : open;
}

// S68. Helm writes sections in the order of their names.
test.each([SERVERS + OTHERS, OTHERS + SERVERS])('a file that is cut anywhere changes nothing', async (text) => {
  const file = join(folder, 'config.yaml');
  writeFileSync(join(folder, 'tools.lock.json'), '{"version": 1, "servers": {}}');
  const environment = { TOKEN_A: 'a'.repeat(20), TOKEN_B: 'b'.repeat(20) };
  const load = (isReload: boolean) =>
    loadConfig({ environment, commandLine: { '--config': file, '--http': '' }, version: '1', isReload });
  writeFileSync(file, text);
  const loaded = await load(false);
  const initial: Reloadable = 'value' in loaded ? loaded.value : {};
  expect(openTo(initial)).toEqual([
    'alice notes/read',
    'alice files/read',
    'alice openai-responses-mcp/answer',
    'bob notes/read',
  ]);
  const bytes = Buffer.from(text.trimEnd());
  for (let length = 0; length < bytes.length; length += 1) {
    writeFileSync(file, bytes.subarray(0, length));
    const logger = new RecordingLogger();
    const applied: unknown[] = [];
    const apply = async (reloadable: Reloadable) => void applied.push(reloadable);
    const reload = serversReload({
      initial,
      apply,
      logger,
      logSpawn: () => {},
      onReload: () => {},
      reload: () => load(true),
    });
    reload();
    while (applied.length + logger.lines.length === 0) await settled();
    expect.soft(applied, bytes.toString('utf8', 0, length)).toEqual([]);
  }
});
