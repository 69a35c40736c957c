import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, addFormats } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, test } from 'vitest';
import { SERVER } from '../../scripts/lib/install-links.js';
import { ROOT } from './serve.ts';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly description?: string;
  readonly choices?: readonly string[];
  readonly default?: string;
}

interface Argument extends Partial<Variable> {
  readonly type: 'positional' | 'named';
  readonly valueHint?: string;
}

interface RegistryPackage {
  readonly registryType: string;
  readonly identifier: string;
  readonly version: string;
  readonly runtimeHint: string;
  readonly runtimeArguments?: readonly Argument[];
  readonly packageArguments?: readonly Argument[];
  readonly environmentVariables?: readonly Variable[];
}

interface ServerJson {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly icons: readonly { readonly src: string }[];
  readonly packages: readonly RegistryPackage[];
}

interface Marketplace {
  readonly name: string;
  readonly plugins: readonly { readonly name: string; readonly source: string | { readonly path: string } }[];
}

const json = <T = Record<string, unknown>>(file: string) =>
  JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T;
const packageJson = json<{ name: string; mcpName: string; version: string }>('package.json');
const { name, command, env } = SERVER;
const args = SERVER.args.map((arg) => arg.replace('@latest', `@${packageJson.version}`));
const { OPENAI_API_KEY: _key, ...settings } = env;

describe('server.json', () => {
  const server = json<ServerJson>('server.json');

  test('is valid', () => {
    const ajv = new Ajv({ strict: false });
    addFormats(ajv);
    const isValid = ajv.compile(json<Record<string, unknown>>('test/fixtures/schemas/server-2025-12-11.schema.json'));
    isValid(server);
    expect(isValid.errors).toBe(null);
    expect(isValid({ ...server, description: 'x'.repeat(101) })).toBe(false);
  });

  test('has an icon that is in the repository', () => {
    const files = server.icons.map(({ src }) =>
      src.replace(/^https:\/\/raw\.githubusercontent\.com\/[^/]+\/[^/]+\/HEAD\//, ''),
    );
    expect(files).toHaveLength(1);
    expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  test('names what the package at npm names', () => {
    expect(server.name).toBe(packageJson.mcpName);
    expect(packageJson.mcpName).toBe(`io.github.uchimanajet7/${packageJson.name}`);
    expect(server.packages.map(({ registryType, identifier }) => [registryType, identifier])).toEqual([
      ['npm', packageJson.name],
    ]);
  });

  test('starts the server in the same way as the links, and VS Code asks only for the key', () => {
    expect(server.packages.map(startInVsCode)).toEqual([{ command, args, asks: ['OPENAI_API_KEY'] }]);
  });

  test.for<[string, Partial<RegistryPackage>]>([
    ['MODEL_ANSWER', { environmentVariables: [{ name: 'MODEL_ANSWER', default: 'gpt-5.2' }] }],
    ['--stdio', { packageArguments: [{ type: 'named', name: '--stdio', description: 'Serves stdio' }] }],
  ])('VS Code would ask for %s as well', ([asked, added]) => {
    for (const entry of server.packages) expect(startInVsCode({ ...entry, ...added }).asks).toContain(asked);
  });
});

describe('the plugins', () => {
  test('are in a folder without a package.json, whose dependencies Claude Code would install', () => {
    expect(readdirSync(path.join(ROOT, 'plugin')).toSorted()).toEqual([
      '.claude-plugin',
      '.codex-plugin',
      'codex.mcp.json',
    ]);
  });

  test.for([
    ['.claude-plugin/marketplace.json', '.claude-plugin'],
    ['.agents/plugins/marketplace.json', '.codex-plugin'],
  ])('%s contains the plugin, under the names of the documents', ([file = '', folder = '']) => {
    const marketplace = json<Marketplace>(file);
    for (const { source, ...plugin } of marketplace.plugins) {
      const folderOf = typeof source === 'string' ? source : source.path;
      const { name } = json(path.join(folderOf, folder, 'plugin.json'));
      expect(plugin.name).toBe(name);
      const clients = readFileSync(path.join(ROOT, 'docs', 'clients.md'), 'utf8');
      expect(clients).toContain(
        `${folder === '.codex-plugin' ? 'codex plugin add' : '/plugin install'} ${name}@${marketplace.name}`,
      );
    }
    expect(marketplace.plugins).toHaveLength(1);
  });

  test('Claude Code asks for the key, and keeps it as a secret', () => {
    const plugin = json('plugin/.claude-plugin/plugin.json');
    const given = { ...settings, OPENAI_API_KEY: `\${user_config.openai_api_key}` };
    expect(plugin.mcpServers).toEqual({ [name]: { command, args, env: given } });
    expect(plugin.userConfig).toEqual({
      openai_api_key: expect.objectContaining({ type: 'string', sensitive: true, required: true }),
    });
  });

  test('Codex takes the key from the environment, and waits longer than the server', () => {
    const { mcpServers } = json<{ mcpServers: string }>('plugin/.codex-plugin/plugin.json');
    expect(json(path.join('plugin', mcpServers))).toEqual({
      mcpServers: {
        [name]: {
          command,
          args,
          env: settings,
          env_vars: ['OPENAI_API_KEY'],
          startup_timeout_sec: 30,
          tool_timeout_sec: 330,
        },
      },
    });
  });

  test('Gemini CLI asks for the key, keeps it as a secret, and waits longer than the server', () => {
    const extension = json('gemini-extension.json');
    expect(extension.mcpServers).toEqual({ [name]: { command, args, env: settings, timeout: 330_000 } });
    expect(extension.settings).toEqual([expect.objectContaining({ envVar: 'OPENAI_API_KEY', sensitive: true })]);
  });
});

/**
 * What VS Code starts, and what it asks the user for: every variable or named argument that is described but has no value,
 * and positional arguments with a hint. The typed text is appended to a named argument.
 */
function startInVsCode(entry: RegistryPackage) {
  const { runtimeArguments = [], packageArguments = [], environmentVariables = [] } = entry;
  const isAsked = ({ value, description, choices, default: preset }: Partial<Variable>) =>
    value === undefined && [description, choices, preset].some((part) => part !== undefined);
  const all = [...runtimeArguments, ...packageArguments];
  const words = (list: readonly Argument[]) =>
    list.flatMap(({ type, name, value }) =>
      [type === 'named' ? name : undefined, value].filter((word) => word !== undefined),
    );
  return {
    command: entry.runtimeHint,
    args: [...words(runtimeArguments), `${entry.identifier}@${entry.version}`, ...words(packageArguments)],
    asks: [...environmentVariables, ...all]
      .filter(isAsked)
      .map((part) => part.name ?? ('valueHint' in part && part.valueHint)),
  };
}
