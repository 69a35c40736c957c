import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { filesIn } from './rules.ts';

const MAX_FILES = 10;

const architecture = readFileSync('docs/architecture.md', 'utf8');
const [, walksText = ''] = /\n## Four walks\n(.*?)\n## /s.exec(architecture) ?? [];

/** Each walk with the files that its steps begin with. */
const walks = walksText
  .split('\n### ')
  .slice(1)
  .map((walk) => ({
    name: walk.split('\n')[0] ?? '',
    files: [...walk.matchAll(/^\d+\. (?:`(src\/[\w./-]+)`)?/gm)].map(([, file]) => file),
  }));

test('four walks are described', () => {
  expect(walks).toHaveLength(4);
});

describe.each(walks)('the walk "$name"', ({ files }) => {
  test('has at most ten steps, each of which begins with a file of the program', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(MAX_FILES);
    expect(files.filter((file) => file === undefined || !existsSync(file))).toEqual([]);
  });
});

/** The files that load something late, by what `docs/architecture.md` calls it. */
const LATE = {
  answers: ['src/wiring/catalogue.ts ./container.ts'],
  servers: [
    'src/wiring/catalogue.ts ./gateway.ts',
    'src/wiring/gateway.ts ./remote-servers.ts',
    'src/wiring/gateway.ts ../adapters/outbound/mcp-client/ajv-schema-validator.ts',
    'src/adapters/outbound/mcp-client/child-tool-server.ts ./client.ts',
    'src/adapters/outbound/mcp-client/child-tool-server.ts ./mcp-connection.ts',
    'src/adapters/outbound/mcp-client/child-tool-server.ts ./settling-transport.ts',
    'src/adapters/outbound/mcp-client/usable-outputs.ts @modelcontextprotocol/client/validators/ajv',
  ],
  http: ['src/main.ts ./wiring/http.ts'],
  audit: ['src/wiring/runtime.ts ./audit.ts'],
  commands: ['src/main.ts ./wiring/command.ts', 'src/main.ts ./adapters/inbound/cli/terminal.ts'],
  loginsAndRedis: [
    'src/wiring/doctor.ts ./logins.ts',
    'src/wiring/server-commands.ts ./logins.ts',
    'src/wiring/callers.ts ../adapters/outbound/quota/redis-quota-store.ts',
    'src/wiring/callers.ts ./login-pages.ts',
  ],
  configuration: [
    'src/adapters/outbound/config/load-config.ts ./http-config.ts',
    'src/adapters/outbound/config/load-config.ts ./servers-config.ts',
    'src/adapters/outbound/config/client-file.ts jsonc-parser',
    'src/adapters/outbound/config/client-file.ts smol-toml',
    'src/adapters/outbound/config/servers-config.ts ./servers-file.ts',
    'src/adapters/outbound/config/set-keys.ts ./yaml-file.ts',
    'src/wiring/runtime.ts ../adapters/outbound/values/local-values.ts',
  ],
};

test('what is loaded late saves a package at the start', () => {
  const late = filesIn(process.cwd(), 'src').flatMap(({ path, text }) =>
    [...text.matchAll(/(?<!typeof )import\('([^']+)'\)/g)].map(([, specifier]) => `${path} ${specifier}`),
  );
  expect(late.sort()).toEqual(Object.values(LATE).flat().sort());
});
