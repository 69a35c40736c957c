import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Environment } from '../../../../../src/adapters/outbound/network/environment.ts';
import { givenConfig } from '../../../../support/given-config.ts';

const { at, load } = givenConfig();

/** What is loaded of a file, which is in the folder of a test. */
async function read(file: string, content: object, environment: Environment = {}) {
  mkdirSync(dirname(at(file)), { recursive: true });
  writeFileSync(at(file), JSON.stringify(content));
  const loaded = await load(undefined, environment, { '--servers': at(file) });
  return 'value' in loaded ? loaded.value : expect.fail(JSON.stringify(loaded.problems));
}

// S76
describe('the folder of a server', () => {
  const cwdOf = async (file: string) => {
    const { servers } = await read(file, { mcpServers: { a: { command: 'x' } } });
    const [{ connection } = expect.fail('no server')] = servers ?? [];
    return connection.kind === 'child' ? connection.cwd : undefined;
  };

  test.each(['.claude/mcp.json', '.amazonq/mcp.json', '.warp/.mcp.json', '.amazonq/cli-agents/default.json'])(
    'is that of the project, also in a folder of a program that is not known: %s',
    async (file) => expect(await cwdOf(`app/${file}`)).toBe(at('app')),
  );

  test.each(['.aws/amazonq/mcp.json', '.lmstudio/mcp.json'])(
    'is where this program was started, in such a folder at home: %s',
    async (file) => expect(await cwdOf(file)).toBe(process.cwd()),
  );

  test.each([
    ['.dotfiles', '.mcp.json'],
    ['.dotfiles', 'config/mcp.json'],
    ['.worktrees/one', 'mcp.json'],
  ])('is that of the file in a repository: %s, %s', async (repository, file) => {
    mkdirSync(at('app', repository, '.git'), { recursive: true });
    expect(await cwdOf(`app/${repository}/${file}`)).toBe(dirname(at('app', repository, file)));
  });

  test('is that of a file that a project has at its top, whatever is above it', async () => {
    expect(await cwdOf('app/.worktrees/one/.mcp.json')).toBe(at('app/.worktrees/one'));
  });
});

// S76
test.each([
  ['.roo/mcp.json', 3600, 3_600_000],
  ['cline_mcp_settings.json', 1800, 1_800_000],
  ['.roo/mcp.json', 45_000, 45_000],
  ['.kiro/settings/mcp.json', 3600, 3600],
  ['.kiro/settings/mcp.json', 30, 30_000],
])('a limit is in the unit of its client: in %s, %d', async (file, timeout, timeoutMs) => {
  const { servers } = await read(`app/${file}`, { mcpServers: { a: { command: 'x', timeout } } });
  expect(servers).toMatchObject([{ timeoutMs }]);
});

// S76
describe('headersHelper', () => {
  const referencesOf = async (headersHelper: string, environment?: Environment) => {
    const server = { type: 'http', url: 'https://a.example', headersHelper };
    const { servers, notices } = await read('a plugin/.mcp.json', { a: server, b: { command: 'x' } }, environment);
    return { values: servers?.find(({ name }) => name === 'a')?.values, notices };
  };

  test('knows the folder of its plugin, and variables, as in a shell', async () => {
    const { values } = await referencesOf(`\${CLAUDE_PLUGIN_ROOT}/h.sh --for "$TEAM" $HOME/x`, {
      TEAM: 'a b',
      HOME: '/h',
    });
    expect(values).toMatchObject([
      { key: 'headersHelper', reference: { words: [at('a plugin/h.sh'), '--for', 'a b', '/h/x'] } },
    ]);
  });

  test('that cannot be read costs its server', async () => {
    for (const helper of ['"open', `$NONE`]) {
      const { values, notices } = await referencesOf(helper);
      expect(values).toBeUndefined();
      expect(notices).toMatchObject([{ where: 'a.headersHelper', message: expect.stringContaining('is left out') }]);
    }
  });
});

// S76
test('what a person was asked for in a plugin is not passed on as it is written', async () => {
  const { servers, notices } = await read('plugin/.mcp.json', {
    a: { command: 'x', env: { KEY: `\${user_config.api_key}` } },
    b: { command: 'x' },
  });
  expect(servers).toMatchObject([{ name: 'b' }]);
  expect(notices).toMatchObject([
    { where: 'a.env.KEY', message: expect.stringMatching(/does not read this reference; write the value/) },
  ]);
});

// S76
test.each([
  ['.vscode/settings.json', { 'editor.tabSize': 2, 'mcp.servers': { a: { command: 'x' } } }],
  ['.amp/settings.json', { 'amp.mcpServers': { a: { command: 'x' } } }],
  [
    '.devcontainer/devcontainer.json',
    { image: 'x', customizations: { vscode: { mcp: { servers: { a: { command: 'x' } } } } } },
  ],
  ['opencode.json', { mcp: { a: { command: 'x', args: [] } } }],
])('servers are read where %s has them', async (file, content) => {
  expect((await read(`app/${file}`, content)).servers).toMatchObject([
    { name: 'a', connection: { command: 'x', cwd: at('app') } },
  ]);
});
