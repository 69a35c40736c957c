import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { posixTest } from '../../support/platform.ts';
import { startSessionServer, startSseServer } from '../../support/servers/remote-servers.ts';
import { newProject } from './client-project.ts';

/** The stub commands are scripts with a line that names Node.js. */
const test = posixTest('shell');

/** The same server in the form of each client: how it is written, and what it must get. */
const CLIENTS: Readonly<Record<string, { readonly file: string; readonly content: string | object }>> = {
  'Claude Code': {
    file: '.mcp.json',
    content: { mcpServers: { api: { type: 'stdio', command: 'stub', args: ['a b', `\${K}`], env: { KEY: `\${K}` } } } },
  },
  'a plugin of Claude Code': {
    file: '.mcp.json',
    content: { api: { command: 'stub', args: ['a b', `\${K:-x}`], env: { KEY: `\${K}` } } },
  },
  'Claude Desktop': {
    file: 'claude_desktop_config.json',
    content: {
      mcpServers: { api: { command: 'stub', args: ['a b', 'value'], env: { KEY: 'value', AS_IT_IS: `\${K}` } } },
    },
  },
  Cursor: {
    file: '.cursor/mcp.json',
    content: { mcpServers: { api: { command: 'stub', args: ['a b', `\${env:K}`], env: { KEY: `\${env:K}` } } } },
  },
  'VS Code': {
    file: '.vscode/mcp.json',
    content: `// for all
{"inputs": [], "servers": {"api": {"command": "stub", "args": ["a b", "\${env:K}"], "env": {"KEY": "\${env:K}"},},}}`,
  },
  'Gemini CLI': {
    file: '.gemini/settings.json',
    content: { mcpServers: { api: { command: 'stub', args: ['a b', `\${K}`], env: { KEY: '$K' } } } },
  },
  opencode: {
    file: 'opencode.json',
    content: { mcp: { api: { type: 'local', command: ['stub', 'a b', '{env:K}'], environment: { KEY: '{env:K}' } } } },
  },
  Codex: {
    file: '.codex/config.toml',
    content: `model = "gpt-5"\n[mcp_servers.api]\ncommand = "stub"\nargs = ["a b", "value"]\nenv_vars = ["K"]\n[mcp_servers.api.env]\nKEY = "value"\n`,
  },
  Windsurf: {
    file: 'mcp_config.json',
    content: { mcpServers: { api: { command: 'stub', args: ['a b', `\${env:K}`], env: { KEY: `\${env:K}` } } } },
  },
  Roo: {
    file: '.roo/mcp.json',
    content: { mcpServers: { api: { command: 'stub', args: ['a b', `\${env:K}`], env: { KEY: `\${env:K}` } } } },
  },
  Cline: {
    file: 'cline_mcp_settings.json',
    content: {
      mcpServers: {
        api: {
          command: 'stub',
          args: ['a b', `\${env:K}`],
          env: { KEY: `\${env: K }`, AS_IT_IS: `\${K}`, FOLDER: `\${workspaceFolder}` },
          disabled: false,
        },
      },
    },
  },
  Kiro: {
    file: '.kiro/settings/mcp.json',
    content: { mcpServers: { api: { command: 'stub', args: ['a b', `\${K}`], env: { KEY: `\${K}` } } } },
  },
  'Copilot CLI': {
    file: '.copilot/mcp-config.json',
    content: {
      mcpServers: {
        api: { type: 'local', command: 'stub', args: ['a b', 'value'], env: { KEY: 'value' }, tools: ['*'] },
      },
    },
  },
  Zed: {
    file: '.zed/settings.json',
    content: { context_servers: { api: { command: 'stub', args: ['a b', 'value'], env: { KEY: 'value' } } } },
  },
  'JetBrains Junie': {
    file: '.junie/mcp/mcp.json',
    content: { mcpServers: { api: { command: 'stub', args: ['a b', 'value'], env: { KEY: 'value' } } } },
  },
  Amp: {
    file: '.amp/settings.json',
    content: { 'amp.mcpServers': { api: { command: 'stub', args: ['a b', `\${K}`], env: { KEY: `\${K}` } } } },
  },
};

/** The server of a client has the client's name, so that one start of the program can have all of them. */
const nameOf = (client: string) => client.toLowerCase().replaceAll(' ', '-');

function textOf(client: string): string {
  const { content = '' } = CLIENTS[client] ?? {};
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return text.replaceAll(/\bapi\b/g, nameOf(client)).replace('a b', `a b ${nameOf(client)}`);
}

/** Starts the servers of some clients, with their files in these folders. */
async function startAll(clients: readonly string[], folderOf: (client: string, home: string) => string) {
  const { write, run, started, home, elsewhere } = newProject({ K: 'value', LANG: 'de_DE.UTF-8' });
  const placed = clients.map((client) => {
    const folder = folderOf(client, home);
    return { client, folder, file: write(path.join(folder, CLIENTS[client]?.file ?? ''), textOf(client)) };
  });
  const options = placed.flatMap(({ file }) => ['--servers', file]);
  const { stderr } = await run(['tools', '--fresh', '--debug', ...options]);
  const records = started();
  const of = (client: string) => ({
    ...placed.find((one) => one.client === client),
    seen: records.find(({ args }) => args[0] === `a b ${nameOf(client)}`),
  });
  return { of, stderr, elsewhere };
}

const names = Object.keys(CLIENTS);
const PLUGIN = 'a plugin of Claude Code';
let inProjects: ReturnType<typeof startAll> | undefined;
let atHome: ReturnType<typeof startAll> | undefined;

// S76
describe.each(names)('a file of %s', (client) => {
  test('starts its server with its arguments and variables, in the project, and is known', async () => {
    inProjects ??= startAll(names, (one, home) => path.join(home, 'work', nameOf(one)));
    const { of, stderr } = await inProjects;
    const { seen, file, folder } = of(client);
    expect(seen).toMatchObject({
      args: [`a b ${nameOf(client)}`, 'value'],
      cwd: folder,
      env: { KEY: 'value', LANG: 'de_DE.UTF-8' },
    });
    expect(stderr).toContain(`${file} is of ${client}; folder ${folder}; servers: ${nameOf(client)}`);
  });

  test('in the home folder starts its server where the program was started', async () => {
    const inHome = (clients: readonly string[]) => startAll(clients, (_, home) => home);
    // The file of a plugin has the place of another client's file.
    atHome ??= inHome(names.filter((name) => name !== PLUGIN));
    const { of, elsewhere } = await (client === PLUGIN ? inHome([PLUGIN]) : atHome);
    expect(of(client).seen?.cwd).toBe(elsewhere);
  });
});

// S76
test('what a client passes on as it is written reaches the server as it is', async () => {
  inProjects ??= startAll(names, (one, home) => path.join(home, 'work', nameOf(one)));
  const { of } = await inProjects;
  expect(of('Claude Desktop').seen?.env).toMatchObject({ AS_IT_IS: `\${K}` });
  expect(of('Cline').seen?.env).toMatchObject({ AS_IT_IS: `\${K}`, FOLDER: `\${workspaceFolder}` });
});

test('the JSON of tools says which client a file is of', async () => {
  const { write, json, project } = newProject({ K: 'value' });
  const clients = ['Claude Code', 'Cursor', 'Codex', 'opencode'];
  const files = clients.map((client) => write(CLIENTS[client]?.file ?? '', CLIENTS[client]?.content ?? ''));
  expect((await json(...files)).files).toMatchObject(
    clients.map((client, index) => ({ file: files[index], client, folder: project })),
  );
});

describe('a file of a person', () => {
  const FILES = [
    '.codeium/windsurf/mcp_config.json',
    '.config/Claude/claude_desktop_config.json',
    'Library/Application Support/Code/User/mcp.json',
    '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
  ];
  test('belongs to no project', async () => {
    const { write, tools, started, home, elsewhere } = newProject();
    const server = (index: number) => ({ mcpServers: { [`s${index}`]: { command: 'stub', args: [FILES[index]] } } });
    await tools(...FILES.map((file, index) => write(path.join(home, file), server(index))));
    for (const file of FILES)
      expect(
        started().find(({ args }) => args[0] === file),
        file,
      ).toMatchObject({ cwd: elsewhere });
  });
});

describe('variables', () => {
  test('for folders are replaced, also in `cwd`', async () => {
    const { write, seen, project, home, addCommand } = newProject();
    addCommand('sub dir/bin/stub');
    const words = [
      'workspaceFolder',
      'workspaceFolderBasename',
      'userHome',
      'pathSeparator',
      '/',
      'CLAUDE_PROJECT_DIR',
    ];
    const args = words.map((word) => `-\${${word}}-`);
    const server = { command: `\${workspaceFolder}/sub dir/bin/stub`, args, cwd: `\${workspaceFolder}/sub dir` };
    const seenThere = await seen('api', write('.vscode/mcp.json', { servers: { api: server } }));
    expect(seenThere).toMatchObject({
      cwd: `${project}/sub dir`,
      args: [`-${project}-`, '-app-', `-${home}-`, '-/-', '-/-', `-${project}-`],
    });
  });

  test('of a plugin are its folder', async () => {
    const { write, seen, project, addCommand } = newProject();
    addCommand('bin/x');
    const server = { command: `\${CLAUDE_PLUGIN_ROOT}/bin/x`, env: { AT: `\${CLAUDE_PLUGIN_ROOT}/data` } };
    const { env } = await seen('api', write('.mcp.json', { api: server }));
    expect(env).toMatchObject({ AT: `${project}/data`, CLAUDE_PLUGIN_ROOT: project, CLAUDE_PROJECT_DIR: project });
  });

  test('in defaults are read when they are needed', async () => {
    const { write, seen } = newProject({ A: 'a', C: 'c' });
    const args = [
      `\${A:-\${NONE}}`,
      `\${NONE:-\${C}}`,
      `\${NONE:-}`,
      `\${NONE:-\${NEITHER:-{x}}}`,
      `\${1}`,
      '$A',
      `\${`,
    ];
    expect((await seen('api', write('.mcp.json', { mcpServers: { api: { command: 'stub', args } } }))).args).toEqual([
      'a',
      'c',
      '',
      '{x}',
      `\${1}`,
      '$A',
      `\${`,
    ]);
  });

  test('of `envFile` are read, and `env` wins', async () => {
    const { write, seen } = newProject();
    write('config/.env', "# comment\r\nONE=1\r\nTWO='2 $X'\r\nexport THREE=3\r\n");
    const server = { command: 'stub', envFile: `\${workspaceFolder}/config/.env`, env: { ONE: 'own' } };
    const { env } = await seen('api', write('.cursor/mcp.json', { mcpServers: { api: server } }));
    expect(env).toMatchObject({ ONE: 'own', TWO: '2 $X', THREE: '3' });
  });

  test('for inputs of VS Code have names of their own, which the message says', async () => {
    const server = { command: 'stub', env: { KEY: `\${input:some-id}` } };
    const content = {
      inputs: [{ id: 'some-id', type: 'promptString' }],
      servers: { api: server, b: { command: 'stub' } },
    };
    const given = newProject({ INPUT_SOME_ID: 'typed' });
    expect((await given.seen('api', given.write('.vscode/mcp.json', content))).env.KEY).toBe('typed');
    const none = newProject();
    const { stderr } = await none.tools(none.write('.vscode/mcp.json', content));
    expect(stderr).toMatch(/servers\.api\.env\.KEY: .*INPUT_SOME_ID.*this server is left out/);
  });

  test('of opencode are in braces, and `$X` is text', async () => {
    const { write, seen } = newProject({ K: 'k' });
    write('secret.txt', 'a file\n');
    const command = ['stub', '{env:K}', '{file:secret.txt}', '$K', `\${K}`, '{"a":{"b":1}}'];
    const content = {
      mcp: { api: { type: 'local', command, environment: { X: '{file:./secret.txt}' }, enabled: true } },
    };
    const { args, env } = await seen('api', write('opencode.jsonc', content));
    expect(args).toEqual(['k', 'a file', '$K', `\${K}`, '{"a":{"b":1}}']);
    expect(env.X).toBe('a file');
  });

  test('of Codex are named, and everything else is text', async () => {
    const { write, seen, tools, project } = newProject({ K: 'k' });
    const file = write(
      '.codex/config.toml',
      `[mcp_servers.api]\r\ncommand = "stub"\r\nargs = ["\${K}"]\r\nenv_vars = ["K", { name = "NONE" }]\r\ncwd = "src"\r\n`,
    );
    write('src/x', '');
    const { args, env, cwd } = await seen('api', file);
    expect({ args, cwd, K: env.K }).toEqual({ args: [`\${K}`], cwd: `${project}/src`, K: 'k' });
    expect((await tools(file)).stderr).toMatch(/mcp_servers\.api\.env_vars: .*NONE/);
  });
});

test('doctor --offline needs none of the variables', async () => {
  const { write, run } = newProject();
  const toml = `[mcp_servers.a]\nurl = "https://a.example/mcp"\nbearer_token_env_var = "T"\n[mcp_servers.b]\ncommand = "stub"\nenv_vars = ["K"]\n`;
  const file = write('.vscode/mcp.json', {
    servers: { c: { command: 'stub', cwd: `\${env:W}/x`, args: [`\${input:i}`] } },
  });
  const files = ['--servers', write('.codex/config.toml', toml), '--servers', file];
  const { code, stdout } = await run(['doctor', '--offline', ...files]);
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('left out')]);
  for (const name of ['T', 'K', 'W', 'INPUT_I'])
    expect(stdout).toContain(`the environment variable ${name} is not set here`);
});

describe('several files', () => {
  test('are read in their order; the first one has a name, and both are reported', async () => {
    const { write, seen, tools } = newProject();
    const one = write('.mcp.json', { mcpServers: { a: { command: 'stub', args: ['one'] } } });
    const two = write('.cursor/mcp.json', {
      mcpServers: { a: { command: 'stub', args: ['two'] }, b: { command: 'stub' } },
    });
    expect((await seen('a', one, two)).args).toEqual(['one']);
    expect((await seen('b', one, two)).args).toEqual([]);
    const { stderr } = await tools(one, two);
    expect(stderr.match(/^warning: .*$/gm)).toEqual([expect.stringContaining(one)]);
    expect(stderr).toContain(two);
  });

  test('of which one cannot be read are a problem that names it', async () => {
    const { write, tools } = newProject();
    const { code, stderr } = await tools(write('.mcp.json', { mcpServers: { a: { command: 'stub' } } }), 'none.json');
    expect(code).toBe(1);
    expect(stderr).toMatch(/none\.json: expected a JSON file/);
  });
});

describe('the places of servers', () => {
  test('`mcpServers` and `servers` count both, and `servers` has a name in both', async () => {
    const { write, seen, tools } = newProject();
    const content = {
      servers: { a: { command: 'stub', args: ['of servers'] } },
      mcpServers: { a: { command: 'stub', args: ['of mcpServers'] }, b: { command: 'stub' } },
    };
    const file = write('.mcp.json', content);
    expect((await seen('a', file)).args).toEqual(['of servers']);
    expect((await seen('b', file)).args).toEqual([]);
    expect((await tools(file)).stderr).toMatch(/mcpServers\.a: it is also servers\.a, which counts/);
  });

  test('of `~/.claude.json` are those of the user and of the project', async () => {
    const { write, run, home, project, tools } = newProject();
    const server = { command: 'stub' };
    const file = write(path.join(home, '.claude.json'), {
      mcpServers: { mine: server },
      projects: {
        [project]: { mcpServers: { here: server } },
        '/other': { mcpServers: { there: server } },
        '/none': {},
      },
    });
    write('src/x', '');
    const call = (name: string) => run(['call', name, 'seen', '--servers', file], path.join(project, 'src'));
    expect(JSON.parse((await call('here')).stdout).cwd).toBe(project);
    expect(JSON.parse((await call('mine')).stdout).cwd).toBe(path.join(project, 'src'));
    const { stdout, stderr } = await tools(file);
    expect(stdout).not.toMatch(/here|there/);
    expect(stderr).toMatch(new RegExp(`servers of other projects .*${project}, /other`));
  });

  test('a name that is twice in a file is reported with its lines, and the last one counts', async () => {
    const { write, seen, tools } = newProject();
    const file = write(
      '.mcp.json',
      `{"mcpServers": {\n"a": {"command": "none"},\n"a": {"command": "stub", "args": ["two"]}}}`,
    );
    expect((await seen('a', file)).args).toEqual(['two']);
    expect((await tools(file)).stderr).toMatch(/mcpServers\.a: it is twice in this file \(lines 2 and 3\)/);
  });

  test('opencode 2 has them in `mcp.servers`', async () => {
    const { write, seen } = newProject();
    const servers = {
      a: { type: 'local', command: ['stub', 'x'], disabled: false, timeout: { startup: 20_000, request: 9000 } },
    };
    expect((await seen('a', write('opencode.json', { mcp: { timeout: { startup: 1 }, servers } }))).args).toEqual([
      'x',
    ]);
  });

  test('an entry that runs this program, also from a checkout, is left out', async () => {
    const { write, tools } = newProject();
    const build = path.resolve(import.meta.dirname, '../../..');
    symlinkSync(build, write('x', '').replace(/x$/, 'checkout'));
    const entry = { command: process.execPath, args: ['checkout/build/index.js', '--stdio'] };
    const { stdout, stderr } = await tools(write('.mcp.json', { mcpServers: { own: entry, a: { command: 'stub' } } }));
    expect(stdout).not.toContain('own');
    expect(stderr).toMatch(/mcpServers\.own: it runs this program/);
  });

  test('a `.mcp.json` in the folder is named if no servers are configured', async () => {
    const { write, run, project } = newProject();
    write('.mcp.json', { mcpServers: { a: { command: 'stub' } } });
    expect((await run(['tools'], project)).stdout).toMatch(
      /This folder has \.mcp\.json; use it with: .* tools --servers \.mcp\.json/,
    );
  });
});

describe('a remote server', () => {
  test('of `type: sse` is asked for Streamable HTTP first, then for SSE', async () => {
    const [modern, old] = await Promise.all([startSessionServer(), startSseServer()]);
    const { write, tools } = newProject();
    const content = { mcpServers: { new: { type: 'sse', url: modern.url }, old: { type: 'sse', url: old.url } } };
    const { stdout } = await tools(write('.mcp.json', content));
    expect(stdout).toMatch(/^new: available/m);
    expect(stdout).toMatch(/^old: available/m);
  });

  const FORMS: Readonly<Record<string, readonly [file: string, content: (url: string) => string | object]>> = {
    'Claude Code': [
      '.mcp.json',
      (url) => ({ mcpServers: { a: { type: 'http', url, headers: { Authorization: `Bearer \${T}` } } } }),
    ],
    Cursor: [
      '.cursor/mcp.json',
      (url) => ({ mcpServers: { a: { url, headers: { Authorization: `Bearer \${env:T}` } } } }),
    ],
    'VS Code': [
      '.vscode/mcp.json',
      (url) => ({ servers: { a: { type: 'http', url, headers: { Authorization: `Bearer \${input:t}` } } } }),
    ],
    'Gemini CLI': [
      '.gemini/settings.json',
      (url) => ({ mcpServers: { a: { httpUrl: url, url: '', headers: { Authorization: 'Bearer $T' } } } }),
    ],
    opencode: [
      'opencode.json',
      (url) => ({ mcp: { a: { type: 'remote', url, headers: { Authorization: 'Bearer {env:T}' }, oauth: false } } }),
    ],
    Codex: ['.codex/config.toml', (url) => `[mcp_servers.a]\nurl = "${url}"\nbearer_token_env_var = "T"\n`],
    'Codex with headers': [
      '.codex/config.toml',
      (url) =>
        `[mcp_servers.a]\nurl = "${url}"\nhttp_headers = { X-A = "\${T}" }\nenv_http_headers = { authorization = "B" }\n`,
    ],
    Windsurf: [
      'mcp_config.json',
      (url) => ({ mcpServers: { a: { serverUrl: url, headers: { Authorization: `Bearer \${env:T}` } } } }),
    ],
    Roo: [
      '.roo/mcp.json',
      (url) => ({
        mcpServers: { a: { type: 'streamable-http', url, headers: { Authorization: `Bearer \${env:T}` } } },
      }),
    ],
    Cline: [
      'cline_mcp_settings.json',
      (url) => ({ mcpServers: { a: { type: 'streamableHttp', url, headers: { Authorization: 'Bearer tok' } } } }),
    ],
  };
  const listAll = async () => {
    const { write, tools } = newProject({ T: 'tok', B: 'Bearer tok', INPUT_T: 'tok' });
    const forms = Object.entries(FORMS).map(async ([client, [file, content]]) => {
      const server = await startSessionServer();
      const given = content(server.url);
      const text = typeof given === 'string' ? given : JSON.stringify(given);
      const named = text.replace(/"a":|\[mcp_servers\.a\]/, (name) => name.replace(/a(?=["\]])/, nameOf(client)));
      return [client, { server, file: write(path.join(nameOf(client), file), named) }] as const;
    });
    const servers = new Map(await Promise.all(forms));
    return { servers, ...(await tools(...[...servers.values()].map(({ file }) => file))) };
  };
  let listed: ReturnType<typeof listAll> | undefined;
  for (const client of Object.keys(FORMS))
    test(`in a file of ${client} gets its headers`, async () => {
      listed ??= listAll();
      const { servers, stdout, stderr } = await listed;
      expect(stdout).toMatch(new RegExp(`^${nameOf(client)}: available`, 'm'));
      expect(stderr).toBe('');
      expect(servers.get(client)?.server.seen.at(-1)?.headers.authorization).toBe('Bearer tok');
    });
});

describe('one wrong entry costs itself only, and is named', () => {
  const WRONG: Readonly<Record<string, readonly [entry: unknown, message: RegExp]>> = {
    'that is null': [null, /expected a server/],
    'that is a text': ['npx x', /expected a server/],
    'with a command that is a number': [{ command: 5 }, /command: got "5", expected a text/],
    'with arguments in one text': [{ command: 'stub', args: '-y x' }, /args: expected a list of texts: \["-y","x"\]/],
    'with variables in a list': [
      { command: 'stub', env: ['A=1'] },
      /env: expected a map of names to texts: \{"NAME": "text"\}/,
    ],
    'with a folder that is a number': [{ command: 'stub', cwd: 5 }, /cwd: expected the path of a folder/],
    'with a time limit in words': [{ command: 'stub', timeout: 'long' }, /timeout: expected a time limit/],
    'with an unset variable': [{ command: 'stub', cwd: `\${NONE}/x` }, /cwd: the environment variable NONE is not set/],
    'with a reference that is not read': [
      { command: 'stub', args: [`\${config:a.b}`] },
      /args\[0\]: .* does not read this reference/,
    ],
    'with a file of variables that is missing': [{ command: 'stub', envFile: '.env' }, /envFile: .*ENOENT/],
    'with a WebSocket': [{ type: 'ws', url: 'wss://a.example' }, /type: .* no WebSocket/],
    'with an http:// URL of another machine': [
      { url: 'http://a.example/mcp' },
      /into the YAML file, with allow_insecure: true/,
    ],
    'with nothing to start': [{ comand: 'stub' }, /exactly one of command and url/],
  };
  let listed: ReturnType<ReturnType<typeof newProject>['tools']> | undefined;
  const list = () => {
    const { write, tools } = newProject();
    const bad = Object.values(WRONG).map(([entry], index) => [`bad${index}`, entry]);
    const servers = { ...Object.fromEntries(bad), good: { command: 'stub', env: { A: null } } };
    return tools(write('.vscode/mcp.json', { servers }));
  };
  for (const [index, [what, [, message]]] of Object.entries(WRONG).entries())
    test(what, async () => {
      listed ??= list();
      const { code, stdout, stderr } = await listed;
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^good: available/)]);
      const lines = stderr.split('\n').filter((line) => new RegExp(`^warning: servers\\.bad${index}\\b`).test(line));
      expect(lines.filter((line) => line.includes('this server is left out'))).toHaveLength(1);
      expect(lines.join('\n')).toMatch(message);
    });

  test('with a line for a shell in place of a list, in opencode', async () => {
    const { write, tools } = newProject();
    const mcp = { bad: { type: 'local', command: 'npx -y x' }, good: { type: 'local', command: ['stub'] } };
    const { stderr } = await tools(write('opencode.json', { mcp }));
    expect(stderr).toMatch(/mcp\.bad\.command: expected a list of texts: \["npx","-y","x"\]; this server is left out/);
  });

  test('with a blank in the path of its command, whose arguments are no advice', async () => {
    const { write, tools } = newProject();
    const { stdout } = await tools(
      write('.mcp.json', {
        mcpServers: { a: { command: 'C:\\Program Files\\nodejs\\node.exe' }, b: { command: 'stub x' } },
      }),
    );
    expect(stdout).toMatch(/^a: failed .*check its command and cwd/m);
    expect(stdout).toMatch(/^b: failed .*put the arguments of the command into args/m);
  });
});

describe('keys', () => {
  test('that are not read are named once each, and the server works', async () => {
    const { write, tools } = newProject();
    const server = {
      command: 'stub',
      alwaysAllow: ['seen'],
      headersHelper: './h',
      oddKey: 1,
      arguments: [],
      disabledTools: [],
    };
    const { code, stdout, stderr } = await tools(write('.mcp.json', { mcpServers: { a: server, b: server } }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^a: available.*\n.*\n.*\nb: available/);
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(stderr).toMatch(
      /a\.headersHelper: not read, because it has no effect on a server with a command \(also in b\)/,
    );
    expect(stderr).toMatch(/a\.alwaysAllow: not read/);
    expect(stderr).toMatch(/a\.oddKey: not read/);
    const meant = { command: 'stub', envs: { A: '1' }, environment_variables: { A: '1' }, Args: ['x'] };
    const warned = (await tools(write('.mcp.json', { mcpServers: { a: meant } }))).stderr;
    expect(warned).toMatch(/a\.envs: not read: it is a key of the YAML file/);
    expect(warned).toMatch(/a\.environment_variables: .*did you mean env\?/);
    expect(warned).toMatch(/a\.Args: .*did you mean args\?/);
  });

  test('that filter tools', async () => {
    const { write, json } = newProject();
    const toml = `[mcp_servers.a]\ncommand = "stub"\nenabled_tools = ["seen"]\n[mcp_servers.b]\ncommand = "stub"\ndisabled_tools = ["seen"]\n`;
    const names = async (file: string) =>
      (await json(file)).tools.map(({ server, name }: Record<string, string>) => `${server}/${name}`);
    expect(await names(write('.codex/config.toml', toml))).toEqual(['a/seen', 'b/other']);
    const gemini = { a: { command: 'stub', includeTools: ['seen'] }, b: { command: 'stub', excludeTools: ['seen'] } };
    expect(await names(write('.gemini/settings.json', { mcpServers: gemini }))).toEqual(['a/seen', 'b/other']);
    const kiro = { a: { command: 'stub', disabledTools: ['other'] } };
    expect(await names(write('.kiro/settings/mcp.json', { mcpServers: kiro }))).toEqual(['a/seen']);
  });

  test('are limits in seconds below 1000, and in milliseconds above', async () => {
    const { write, run } = newProject();
    const limitOf = async (file: string, content: string | object) => {
      const { stderr } = await run(['--show-config', '--servers', write(file, content)]);
      return JSON.parse(stderr).effective.servers.map(({ timeout, startup_timeout: start }: Record<string, number>) => [
        timeout,
        start,
      ]);
    };
    const roo = {
      a: { command: 'x', timeout: 30 },
      b: { command: 'x', timeout: 45_000 },
      c: { command: 'x', timeout: '60' },
    };
    expect(await limitOf('.roo/mcp.json', { mcpServers: roo })).toEqual([
      [30_000, 60_000],
      [45_000, 60_000],
      [60_000, 60_000],
    ]);
    const codex = '[mcp_servers.a]\ncommand = "x"\ntool_timeout_sec = 1.5\nstartup_timeout_sec = 20\n';
    expect(await limitOf('.codex/config.toml', codex)).toEqual([[1500, 20_000]]);
  });

  test('that switch a server off are named, and start nothing', async () => {
    const { write, tools } = newProject();
    const off = {
      on: { command: 'stub' },
      off: { command: 'none', disabled: true, args: [`\${NONE}`] },
      off2: { command: 'none', enabled: false },
    };
    const { code, stdout, stderr } = await tools(write('.mcp.json', { mcpServers: off }));
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('off')]);
    expect(stderr).toMatch(/switched off in this file, and left out: off, off2/);
    const toml = '[mcp_servers.x]\ncommand = "none"\nenabled = false\n[mcp_servers.y]\ncommand = "stub"\n';
    expect((await tools(write('.codex/config.toml', toml))).stderr).toMatch(/left out: x/);
    const gemini = { mcp: { excluded: ['x'] }, mcpServers: { x: { command: 'none' }, y: { command: 'stub' } } };
    expect((await tools(write('.gemini/settings.json', gemini))).stderr).toMatch(/left out: x/);
  });

  test('`inherit_env` can be set for all servers', async () => {
    const { write, run } = newProject({ EXTRA: 'x', OPENAI_API_KEY: 'sk-x' });
    const file = write('.mcp.json', { mcpServers: { a: { command: 'stub' } } });
    for (const inherit of [['EXTRA'], true]) {
      const config = write('config.yaml', { gateway: { servers_file: [file], inherit_env: inherit } });
      const { env } = JSON.parse((await run(['call', 'a', 'seen', '--config', config])).stdout);
      expect(env.EXTRA).toBe('x');
      expect(env).not.toHaveProperty('OPENAI_API_KEY');
    }
  });
});
