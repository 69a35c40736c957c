import { mkdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CLIENT_KEYS } from '../../../../../src/adapters/outbound/config/client-keys.ts';
import type { Environment } from '../../../../../src/adapters/outbound/network/environment.ts';
import { givenConfig } from '../../../../support/given-config.ts';

const { at, load: loadYaml } = givenConfig();
const file = () => at('servers.json');

/** Loads the configuration with `--servers` and this content. */
function load(content: string | object, environment: Environment = {}, yaml?: string) {
  writeFileSync(file(), typeof content === 'string' ? content : JSON.stringify(content));
  return loadYaml(yaml, environment, { '--servers': file() });
}

async function serversOf(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  return 'value' in loaded ? loaded.value.servers : expect.fail(JSON.stringify(loaded.problems));
}

/** What is reported although the configuration is valid, as `where: value: message`. All of it names the file. */
async function noticesOf(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  if ('problems' in loaded) return expect.fail(JSON.stringify(loaded.problems));
  return loaded.value.notices.map((notice) => {
    expect(notice.file).toBe(file());
    return [notice.where, notice.value, notice.message].filter((part) => part !== undefined).join(': ');
  });
}

async function problemsOf(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  return 'problems' in loaded ? loaded.problems : expect.fail('nothing is wrong');
}

// S83
describe('values that are read later', () => {
  const valuesOf = async (content: object) => (await serversOf(content))?.flatMap(({ values = [] }) => values);

  test('of opencode are files', async () => {
    const server = { type: 'local', command: ['x', '{file:./none.txt}'], environment: { K: '{file:/none/k}' } };
    expect(await valuesOf({ mcp: { a: server } })).toEqual([
      { key: 'args[0]', reference: { kind: 'file', path: at('none.txt') } },
      { key: 'env.K', reference: { kind: 'file', path: '/none/k' } },
    ]);
  });

  test('are no commands of VS Code, which only it can run', async () => {
    const content = (command: string) => ({ servers: { a: { command: 'x', env: { K: `\${command:${command}}` } } } });
    expect(await problemsOf(content('ext.token'))).toMatchObject([
      {
        where: 'servers.a.env.K',
        value: `\${command:ext.token}`,
        message: 'names a command of VS Code, which only VS Code can run; write a variable, or the path of a program',
      },
    ]);
    for (const command of ['./token.sh', 'op read x']) expect(await valuesOf(content(command))).toHaveLength(1);
  });
});

describe('reads the file of', () => {
  test('Claude Desktop', async () => {
    const content = {
      globalShortcut: '',
      mcpServers: {
        github: { command: 'docker', args: ['run', '--rm'], env: { GITHUB_TOKEN: 'ghp_x' }, icon: 'x.png' },
      },
    };
    const connection = { kind: 'child', command: 'docker', args: ['run', '--rm'], envs: { GITHUB_TOKEN: 'ghp_x' } };
    expect(await serversOf(content)).toMatchObject([
      { name: 'github', connection: { ...connection, cwd: process.cwd() } },
    ]);
  });

  test('Claude Code', async () => {
    const content = {
      mcpServers: {
        http: { type: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: `Bearer \${TOKEN}` } },
        sse: { type: 'sse', url: `https://mcp.example.com/\${PLACE:-sse}` },
      },
    };
    expect(await serversOf(content, { TOKEN: 'abc' })).toMatchObject([
      { name: 'http', connection: { kind: 'remote', transport: 'http', headers: { Authorization: 'Bearer abc' } } },
      { name: 'sse', connection: { transport: 'auto', url: 'https://mcp.example.com/sse' } },
    ]);
  });

  test('Cursor', async () => {
    const content = {
      mcpServers: {
        local: { command: 'npx', args: ['-y', `\${env:PACKAGE}`], env: { KEY: `\${env:KEY}` } },
        old: { serverUrl: `https://\${env:KEY}.example.com/mcp` },
      },
    };
    expect(await serversOf(content, { PACKAGE: 'a-package', KEY: 'k' })).toMatchObject([
      { connection: { args: ['-y', 'a-package'], envs: { KEY: 'k' } } },
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

  test('a plugin, of which one entry is wrong', async () => {
    const content = { $schema: 'https://a.example', api: { command: 'x' }, bad: null, odd: { comand: 'x' } };
    expect(await serversOf(content)).toMatchObject([{ name: 'api' }]);
    const left = (await noticesOf(content)).filter((notice) => notice.endsWith('this server is left out'));
    expect(left).toEqual([expect.stringMatching(/^bad: expected a server/), expect.stringMatching(/^odd: expected/)]);
  });

  test.each([
    [{ name: 'p', author: { url: 'https://a.example' } }, /^expected an object mcpServers/],
    [{ name: 'p', mcpServers: './a.json' }, /^its servers are in other files; use --servers \.\/a\.json$/],
    [{ name: 'p', mcpServers: ['./a.json', './b.json'] }, /use --servers \.\/a\.json --servers \.\/b\.json$/],
  ])('a plugin without servers: %j', async (content, message) => {
    mkdirSync(at('.claude-plugin'), { recursive: true });
    writeFileSync(at('.claude-plugin/plugin.json'), JSON.stringify(content));
    const loaded = await loadYaml(undefined, {}, { '--servers': at('.claude-plugin/plugin.json') });
    expect(loaded).toMatchObject({ problems: [{ message: expect.stringMatching(message) }] });
  });

  test.each([
    ['streamable-http', 'http'],
    ['streamableHttp', 'http'],
    [{ type: 'http', headers: {} }, 'http'],
    [{ type: 'sse' }, 'auto'],
    ['other', 'auto'],
    [undefined, 'auto'],
  ])('any program with the type %j', async (type, transport) => {
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
    expect(await serversOf(content)).toMatchObject([{ name: 'on', timeoutMs: 60_000 }]);
  });
});

describe('the servers', () => {
  test('follow those of the YAML file, which can name the file', async () => {
    const yaml = 'gateway: {servers_file: sub/more.json}\nservers: [{name: first, command: x}]';
    mkdirSync(at('sub'));
    writeFileSync(at('sub/more.json'), '{"mcpServers": {"second": {"command": "y", "cwd": "work"}}}');
    expect(await loadYaml(yaml)).toMatchObject({
      value: { servers: [{ name: 'first' }, { name: 'second', connection: { cwd: at('sub/work') } }] },
    });
  });

  test('of the option replace those of the file that the YAML file names', async () => {
    const yaml = 'gateway: {servers_file: none.json}';
    expect(await serversOf({ mcpServers: { a: { command: 'x' } } }, {}, yaml)).toMatchObject([{ name: 'a' }]);
  });

  test('of the YAML file come first, and count where both have a name', async () => {
    const yaml = 'servers: [{name: files, command: x}]';
    const content = { mcpServers: { files: { command: 'y' }, more: { command: 'z' } } };
    expect(await serversOf(content, {}, yaml)).toMatchObject([
      { name: 'files', connection: { command: 'x' } },
      { name: 'more' },
    ]);
    expect(await noticesOf(content, {}, yaml)).toEqual([
      expect.stringMatching(
        /^mcpServers\.files: a server of .*\.yaml has this name and counts \(servers\[0\]\); this one is left out$/,
      ),
    ]);
  });
});

test('the files of variables of an entry are watched, also while it cannot be used', async () => {
  const content = {
    mcpServers: { a: { command: 'x', envFile: at('a.env') }, b: { command: 'x', envFile: at('none.env') } },
  };
  writeFileSync(at('a.env'), 'A=1');
  expect((await load(content)).files).toEqual([file(), at('a.env'), at('none.env')]);
});

describe('a problem', () => {
  test.each([
    ['', 'expected JSON (ValueExpected in line 1)'],
    ['{\n  "mcpServers": {\n    oops', 'expected JSON (InvalidSymbol in line 3)'],
    ['{}', 'expected an object mcpServers (or servers, as VS Code writes it)'],
  ])('is the content %j', async (content, message) => {
    expect(await problemsOf(content)).toEqual([{ where: file(), message }]);
  });

  test('is a file in YAML, as Goose and Continue have it', async () => {
    const where = at('config.yaml');
    writeFileSync(where, 'extensions:\n  fetch: { type: stdio, cmd: uvx, args: [mcp-server-fetch] }\n');
    const message =
      'expected JSON or TOML: files in YAML, as those of Goose and Continue, are not read; write their servers as a list under servers, into the YAML file of --config';
    expect(await loadYaml(undefined, {}, { '--servers': where })).toMatchObject({ problems: [{ where, message }] });
  });

  test('is a file that cannot be read', async () => {
    const where = at('none.json');
    const message = 'expected a JSON file with servers that can be read (ENOENT)';
    expect(await loadYaml(undefined, {}, { '--servers': where })).toMatchObject({ problems: [{ where, message }] });
  });

  test('is a missing variable, in VS Code', async () => {
    const message = 'the environment variable KEY is not set';
    expect(await problemsOf({ servers: { bad: { command: 'x', env: { KEY: `\${env:KEY}` } } } })).toEqual([
      { where: 'servers.bad.env.KEY', message, file: file() },
    ]);
  });

  test('of `~/.claude.json` says where the servers of a project can be', async () => {
    const content = { projects: { '/elsewhere/notes': { mcpServers: { a: { command: 'x' } } } } };
    expect(await problemsOf(content)).toEqual([
      {
        where: file(),
        message: expect.stringMatching(/^expected an object mcpServers.*folder of the project: \/elsewhere\/notes$/),
      },
    ]);
  });

  test('is none if the file has no others, but is said', async () => {
    const content = { mcpServers: {}, projects: { '/elsewhere/notes': { mcpServers: { a: GOOD.good } }, '/none': {} } };
    expect(await noticesOf(content)).toEqual([
      expect.stringMatching(/^projects: .* not read; .*: \/elsewhere\/notes$/),
    ]);
    expect(await noticesOf({ mcpServers: {} })).toEqual([]);
  });

  test('is one with each entry, if none is left', async () => {
    const content = { mcpServers: { a: {}, b: 'x', off: { command: 'x', disabled: true } } };
    expect(await problemsOf(content)).toMatchObject([{ where: 'mcpServers.a' }, { where: 'mcpServers.b' }]);
    expect(await problemsOf(content, {}, 'servers: [{name: good, command: x}]')).toHaveLength(2);
  });
});

const GOOD = { good: { command: 'x' } };

describe('an entry that cannot be used is left out, with one warning that names it', () => {
  test.each<readonly [string, unknown, string]>([
    ['a text', 'x', 'mcpServers.bad: expected a server: an object with a command or a url; this server is left out'],
    ['nothing', {}, 'mcpServers.bad: expected exactly one of command and url; this server is left out'],
    [
      'an input',
      { command: 'x', args: [`\${input:key}`], env: { A: `\${input:key}` } },
      `mcpServers.bad.args[0]: \${input:key}: set the environment variable INPUT_KEY, because this program cannot ask for inputs; this server is left out`,
    ],
  ])('%s', async (_, bad, notice) => {
    const content = { mcpServers: { bad, ...GOOD } };
    expect(await serversOf(content)).toMatchObject([{ name: 'good' }]);
    expect(await noticesOf(content)).toEqual([notice]);
  });

  test('without its secrets, and not in what is shown', async () => {
    const content = { mcpServers: { bad: { command: 'x', env: { KEY: ['hunter2secret'] } }, ...GOOD } };
    const loaded = await load(content);
    const value = 'value' in loaded ? loaded.value : expect.fail(JSON.stringify(loaded.problems));
    expect(JSON.stringify(value.notices)).not.toContain('hunter2secret');
    expect((await value.shown()).effective.servers).toMatchObject([{ name: 'good', command: 'x' }]);
  });

  test('but not one of the YAML file', async () => {
    expect(await problemsOf({ mcpServers: GOOD }, {}, 'servers: [{name: bad}]')).toHaveLength(1);
  });
});

describe('a value of another type', () => {
  const VALUES = [
    {},
    { a: 1 },
    { a: { b: null } },
    { path: { a: 1 }, startup: {}, scopes: {} },
    [],
    [null],
    [['a']],
    [{}],
    5,
    true,
    'x',
  ];

  test.each(Object.keys(CLIENT_KEYS))('of %s costs at most its entry', async (key) => {
    for (const given of [{ command: 'x' }, { url: 'https://a.example' }]) {
      for (const value of VALUES) {
        const content = { mcpServers: { bad: { ...given, [key]: value }, ...GOOD } };
        expect(await serversOf(content)).toContainEqual(expect.objectContaining({ name: 'good' }));
        for (const notice of await noticesOf(content)) expect(notice).not.toMatch(/undefined|\[object/);
      }
    }
  });
});

describe('an entry that runs this program', () => {
  test.each<readonly [string, object]>([
    ['npx', { command: 'npx', args: ['-y', 'openai-responses-mcp@latest', '--stdio'] }],
    ['a package', { command: 'npm', args: ['exec', '--package=openai-responses-mcp', '--', 'x'] }],
    ['the path of a command', { command: '/usr/local/bin/openai-responses-mcp' }],
    ['a command of Windows', { command: 'C:\\npm\\openai-responses-mcp.cmd' }],
    ['a shell', { command: 'sh', args: ['-c', 'exec npx -y openai-responses-mcp@latest --stdio'] }],
    [
      'an image',
      { command: 'docker', args: ['run', '-i', 'ghcr.io/uchimanajet7/openai-responses-mcp:0.9.0', '--stdio'] },
    ],
    ['an installation', { command: 'node', args: ['/opt/node_modules/openai-responses-mcp/build/index.js'] }],
  ])('is left out, whatever its name: %s', async (_, entry) => {
    const content = { mcpServers: { answers: entry, 'openai-responses-mcp': entry } };
    expect(await serversOf(content)).toEqual([]);
    const message = 'it runs this program, which cannot be a server of itself; this server is left out';
    expect(await noticesOf(content)).toEqual([
      `mcpServers.answers: ${message}`,
      `mcpServers.openai-responses-mcp: ${message}`,
    ]);
  });

  test('is not one that only names a folder like it', async () => {
    const args = ['server-filesystem', '/home/me/openai-responses-mcp', 'my-openai-responses-mcp'];
    const content = { mcpServers: { files: { command: 'npx', args } } };
    expect(await serversOf(content)).toMatchObject([{ name: 'files' }]);
    expect(await noticesOf(content)).toEqual([]);
  });
});

describe('a name that other programs allow', () => {
  test.each([
    ['my server', 'my-server'],
    ['github.com/owner/repo', 'github-com-owner-repo'],
    ['a__b', 'a-b'],
    [' files ', 'files'],
    ['検索', 'server'],
    ['openai-responses-mcp', expect.stringMatching(/^openai-responses-mcp-[0-9a-f]{8}$/)],
    ['x'.repeat(33), expect.stringMatching(/^x{23}-[0-9a-f]{8}$/)],
  ])('%j becomes usable, with a notice', async (name, usable) => {
    const content = { mcpServers: { [name]: { command: 'x' } } };
    const [server] = (await serversOf(content)) ?? [];
    expect(server?.name).toEqual(usable);
    expect(await noticesOf(content)).toEqual([
      `mcpServers.${name}.name: ${name}: the server is called ${server?.name} here, because names have only letters, digits, - and _`,
    ]);
  });

  test('gets a hash if another has become the same, and never takes the name of another', async () => {
    const servers = { 'a b': GOOD.good, 'a-b': GOOD.good, 'a/b': GOOD.good, 'c d': GOOD.good, 'c.d': GOOD.good };
    const names = (await serversOf({ mcpServers: servers }))?.map(({ name }) => name) ?? [];
    const hashed = (start: string) => expect.stringMatching(new RegExp(`^${start}-[0-9a-f]{8}$`));
    expect(names).toEqual([hashed('a-b'), 'a-b', hashed('a-b'), hashed('c-d'), hashed('c-d')]);
    expect(new Set(names).size).toBe(5);
    const reversed = Object.fromEntries(Object.entries(servers).toReversed());
    expect((await serversOf({ mcpServers: reversed }))?.map(({ name }) => name)).toEqual(names.toReversed());
  });

  test('is always one that a server can have', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 8 }),
        async (given) => {
          // The parser of JSON ignores this name.
          const servers = Object.fromEntries(
            given.filter((name) => name !== '__proto__').map((name) => [name, GOOD.good]),
          );
          const names = (await serversOf({ mcpServers: servers }))?.map(({ name }) => name) ?? [];
          expect(new Set(names).size).toBe(Object.keys(servers).length);
          for (const name of names)
            expect(name).toMatch(/^(?!openai-responses-mcp$)(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('a process that the gateway started', () => {
  const environment = { OPENAI_RESPONSES_MCP_GATEWAY: '1' };
  const yaml = `servers: [{name: a, command: "\${NONE}"}]\ngrounding: {tools: {a: all}}`;

  test('has no servers, whatever is configured, and says so', async () => {
    const loaded = await load({ mcpServers: GOOD }, environment, yaml);
    expect(loaded).toMatchObject({
      value: {
        servers: [],
        grounding: expect.anything(),
        notices: [{ where: 'OPENAI_RESPONSES_MCP_GATEWAY', message: expect.stringContaining('starts no servers') }],
      },
    });
  });
});
