import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Environment } from '../../../../../src/adapters/outbound/config/environment.ts';
import { FileConfigSource } from '../../../../../src/adapters/outbound/config/file-config-source.ts';
import { HOME_VARIABLE } from '../../../../support/platform.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'servers-file-'));
  vi.stubEnv(HOME_VARIABLE, folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const file = () => join(folder, 'servers.json');

/** Loads the configuration with `--servers` and this content. */
function load(content: string | object, environment: Environment = {}, yaml?: string) {
  writeFileSync(file(), typeof content === 'string' ? content : JSON.stringify(content));
  const config = join(folder, 'config.yaml');
  if (yaml !== undefined) writeFileSync(config, yaml);
  const commandLine = { '--servers': file(), ...(yaml === undefined ? {} : { '--config': config }) };
  return new FileConfigSource({ environment, commandLine, version: '1.2.3' }).load();
}

async function serversOf(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  return 'value' in loaded ? loaded.value.servers : expect.fail(JSON.stringify(loaded.problems));
}

async function problemsOf(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  return 'problems' in loaded ? loaded.problems : expect.fail('nothing is wrong');
}

describe('reads the file of', () => {
  test('Claude Desktop', async () => {
    const content = {
      globalShortcut: '',
      mcpServers: {
        filesystem: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/tmp'] },
        github: { command: 'docker', args: ['run', '-i', '--rm'], env: { GITHUB_TOKEN: 'ghp_x' }, icon: 'x.png' },
      },
    };
    expect(await serversOf(content)).toMatchObject([
      {
        name: 'filesystem',
        connection: { kind: 'child', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/tmp'] },
        timeoutMs: 30_000,
      },
      { name: 'github', connection: { command: 'docker', envs: { GITHUB_TOKEN: 'ghp_x' }, cwd: folder } },
    ]);
  });

  test('Claude Code', async () => {
    const content = {
      mcpServers: {
        local: { type: 'stdio', command: 'node', args: ['a.js'], env: {} },
        http: { type: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: `Bearer \${TOKEN}` } },
        sse: { type: 'sse', url: `https://mcp.example.com/\${PLACE:-sse}` },
      },
    };
    expect(await serversOf(content, { TOKEN: 'abc' })).toMatchObject([
      { name: 'local', connection: { kind: 'child', command: 'node' } },
      { name: 'http', connection: { kind: 'remote', transport: 'http', headers: { Authorization: 'Bearer abc' } } },
      { name: 'sse', connection: { transport: 'sse', url: 'https://mcp.example.com/sse' } },
    ]);
  });

  test('Cursor', async () => {
    const content = {
      mcpServers: {
        local: { command: 'npx', args: ['-y', `\${env:PACKAGE}`], env: { KEY: `\${env:KEY}` } },
        remote: { url: 'https://mcp.example.com/mcp', headers: { 'X-Key': `\${env:KEY}` } },
        old: { serverUrl: `https://\${env:KEY}.example.com/mcp` },
      },
    };
    expect(await serversOf(content, { PACKAGE: 'a-package', KEY: 'k' })).toMatchObject([
      { connection: { args: ['-y', 'a-package'], envs: { KEY: 'k' } } },
      { connection: { transport: 'auto', headers: { 'X-Key': 'k' } } },
      { connection: { url: 'https://k.example.com/mcp' } },
    ]);
  });

  test('VS Code, with comments and trailing commas', async () => {
    const content = `\uFEFF{
  // The inputs are not used.
  "inputs": [{"type": "promptString", "id": "key"}],
  "servers": {
    /* one */
    "fetch": {"type": "stdio", "command": "uvx", "args": ["mcp-server-fetch",],},
    "web": {"type": "http", "url": "https://mcp.example.com/mcp"},
  },
}`;
    expect(await serversOf(content)).toMatchObject([
      { name: 'fetch', connection: { command: 'uvx', args: ['mcp-server-fetch'] } },
      { name: 'web', connection: { url: 'https://mcp.example.com/mcp', transport: 'http' } },
    ]);
  });

  test.each([
    ['http', 'http'],
    ['streamable-http', 'http'],
    ['streamableHttp', 'http'],
    ['sse', 'sse'],
    ['other', 'auto'],
    [undefined, 'auto'],
  ])('any program with the type %s', async (type, transport) => {
    expect(await serversOf({ mcpServers: { web: { type, url: 'https://a.example' } } })).toMatchObject([
      { connection: { transport } },
    ]);
  });

  test('any program, without servers that are disabled and keys that are not known', async () => {
    const content = {
      mcpServers: {
        off: { command: 'x', disabled: true, args: [`\${input:key}`] },
        alsoOff: { command: 'x', enabled: false },
        on: { command: 'x', disabled: false, enabled: true, autoApprove: ['a'], timeout: 60, alwaysAllow: [] },
      },
    };
    expect(await serversOf(content)).toMatchObject([{ name: 'on', timeoutMs: 30_000 }]);
  });

  test('any program, with a key of an API in it', async () => {
    const content = { mcpServers: { a: { command: 'x', env: { KEY: 'sk-proj-Ab12cd34' } } } };
    expect(await serversOf(content)).toMatchObject([{ connection: { envs: { KEY: 'sk-proj-Ab12cd34' } } }]);
  });

  test('nobody: no servers', async () => {
    expect(await serversOf({ mcpServers: {} })).toEqual([]);
  });
});

describe('the servers', () => {
  test('follow those of the YAML file, which can name the file', async () => {
    const yaml = 'gateway: {servers_file: sub/more.json}\nservers: [{name: first, command: x}]';
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'sub/more.json'), '{"mcpServers": {"second": {"command": "y", "cwd": "work"}}}');
    writeFileSync(join(folder, 'config.yaml'), yaml);
    const commandLine = { '--config': join(folder, 'config.yaml') };
    const loaded = await new FileConfigSource({ environment: {}, commandLine, version: '1.2.3' }).load();
    expect(loaded).toMatchObject({
      value: { servers: [{ name: 'first' }, { name: 'second', connection: { cwd: join(folder, 'sub/work') } }] },
    });
  });

  test('of the option replace those of the file that the YAML file names', async () => {
    const yaml = 'gateway: {servers_file: none.json}';
    expect(await serversOf({ mcpServers: { a: { command: 'x' } } }, {}, yaml)).toMatchObject([{ name: 'a' }]);
  });

  test('must not have a name of the YAML file', async () => {
    const yaml = 'servers: [{name: files, command: x}]';
    expect(await problemsOf({ mcpServers: { files: { command: 'y' } } }, {}, yaml)).toEqual([
      { where: 'mcpServers.files.name', value: 'files', message: 'another server already has this name', file: file() },
    ]);
  });
});

describe('a problem', () => {
  test.each([
    ['', 'expected JSON (ValueExpected in line 1)'],
    ['{\n  "mcpServers": {\n    oops', 'expected JSON (InvalidSymbol in line 3)'],
    ['[]', 'expected an object mcpServers (or servers, as VS Code writes it)'],
    ['{}', 'expected an object mcpServers (or servers, as VS Code writes it)'],
    ['{"mcpServers": []}', 'expected an object mcpServers (or servers, as VS Code writes it)'],
  ])('is the content %j', async (content, message) => {
    expect(await problemsOf(content)).toEqual([{ where: file(), message }]);
  });

  test('is a file that cannot be read', async () => {
    const commandLine = { '--servers': join(folder, 'none.json') };
    const loaded = await new FileConfigSource({ environment: {}, commandLine, version: '1.2.3' }).load();
    expect(loaded).toEqual({
      problems: [
        {
          where: join(folder, 'none.json'),
          message: 'expected a JSON file with servers that can be read (ENOENT)',
        },
      ],
    });
  });

  test.each<readonly [string, object | string, object]>([
    ['a text', 'x', { where: '', message: 'expected a server: an object with a command or a url' }],
    ['nothing', {}, { where: '', message: 'expected exactly one of command and url' }],
    [
      'an input',
      { command: 'x', args: ['--key', `\${input:api-key}`] },
      {
        where: '',
        value: `\${input:api-key}`,
        message: 'this program cannot ask for inputs; use an environment variable',
      },
    ],
    [
      'a missing variable',
      { command: 'x', env: { KEY: `\${env:KEY}` } },
      { where: '.env.KEY', message: 'the environment variable KEY is not set' },
    ],
    [
      'an http:// URL of another machine',
      { url: 'http://mcp.example.com' },
      { where: '.url', value: 'http://mcp.example.com', message: expect.stringContaining('expected https://') },
    ],
  ])('is %s, in VS Code', async (_, server, problem) => {
    const [found] = await problemsOf({ servers: { bad: server } });
    const { where, ...rest } = problem as { readonly where: string };
    expect(found).toEqual({ where: `servers.bad${where}`, file: file(), ...rest });
  });

  test('is a name that other programs allow', async () => {
    expect(await problemsOf({ mcpServers: { 'my server': { command: 'x' }, a__b: { command: 'x' } } })).toMatchObject([
      { where: 'mcpServers.my server.name', value: 'my server' },
      { where: 'mcpServers.a__b.name', value: 'a__b' },
    ]);
  });

  test('shows no secret', async () => {
    const content = { mcpServers: { a: { command: 'x', env: { KEY: ['hunter2secret'] } }, b: ['hunter2secret'] } };
    expect(JSON.stringify(await problemsOf(content))).not.toContain('hunter2secret');
  });
});
