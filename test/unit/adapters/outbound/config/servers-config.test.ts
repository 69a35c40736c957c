import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../../src/adapters/outbound/config/load-config.ts';
import type { CommandLineOptions } from '../../../../../src/adapters/outbound/config/set-keys.ts';
import type { Environment } from '../../../../../src/adapters/outbound/network/environment.ts';
import { givenConfig } from '../../../../support/given-config.ts';

interface Given {
  readonly environment?: Environment;
  readonly commandLine?: CommandLineOptions;
  /** The content of `servers.json`. */
  readonly json?: object;
}

const { at, problemsOf: allProblemsOf, acceptedConfig } = givenConfig();

function configOf(yaml: string | undefined, { environment, commandLine, json }: Given = {}) {
  if (json !== undefined) writeFileSync(at('servers.json'), JSON.stringify(json));
  return acceptedConfig(yaml, environment, commandLine);
}

const serversOf = async (yaml: string, given: Given = {}) => (await configOf(yaml, given)).servers;

/** The problems as `where: value: message`. All of them name the YAML file. */
async function problemsOf(yaml: string, given: Given = {}) {
  const found = await allProblemsOf(yaml, given.environment);
  return found.map(({ where, value, message, file }) => {
    if (where !== 'DEFAULT_TIMEOUT') expect(file).toBe(at('config.yaml'));
    return value === undefined ? `${where}: ${message}` : `${where}: ${value}: ${message}`;
  });
}

/** One server with a command and these members. */
const server = (members: string) => `servers:\n  - {name: files, command: files-server, ${members}}\n`;
const remote = (members: string) => `servers:\n  - {name: web, url: "https://mcp.example.com/mcp", ${members}}\n`;

describe('a server', () => {
  test('with a command has these defaults', async () => {
    expect(await serversOf(server(''))).toEqual([
      {
        name: 'files',
        connection: { kind: 'child', command: 'files-server', args: [], cwd: at(), envs: {}, inheritEnv: [] },
        timeoutMs: 30_000,
        startupTimeoutMs: 60_000,
        questionTimeoutMs: 600_000,
        start: undefined,
        idleMs: 0,
        restart: 'on-failure',
        isRequired: false,
        filter: {},
        maxConcurrency: 64,
        maxResponseBytes: 10 * 1024 * 1024,
        forwardBaggage: false,
        isPublic: false,
        login: 'shared',
        maxConnections: 100,
      },
    ]);
  });

  test('with a URL has these defaults', async () => {
    const connection = { kind: 'remote', url: 'https://mcp.example.com/mcp', transport: 'auto', headers: {} };
    expect(await serversOf(remote(''))).toMatchObject([{ name: 'web', connection }]);
  });

  test('can have every key', async () => {
    const yaml = `servers:
  - name: A-1_bxxxxxxxxxxxxxxxxxxxxxxxxxxx
    command: node
    args: [server.js, 8080, true]
    cwd: work
    envs: {PORT: 8080, VERBOSE: true, NAME: text}
    inherit_env: [SSH_AUTH_SOCK]
    timeout: 1000
    startup_timeout: 2000
    restart: never
    required: true
    tools: {allow: [read, "list*", "*_file", "*any*", "*"], deny: [read_secret]}
    max_concurrency: 2
    max_response_bytes: 2048
    public: true
  - name: web
    url: http://10.0.0.1/mcp
    transport: sse
    headers: {X-Key: abc, X-Number: 1}
    allow_insecure: true
`;
    expect(await serversOf(yaml)).toMatchObject([
      {
        name: 'A-1_b'.padEnd(32, 'x'),
        connection: {
          command: 'node',
          args: ['server.js', '8080', 'true'],
          cwd: at('work'),
          envs: { PORT: '8080', VERBOSE: 'true', NAME: 'text' },
          inheritEnv: ['SSH_AUTH_SOCK'],
        },
        timeoutMs: 1000,
        startupTimeoutMs: 2000,
        restart: 'never',
        isRequired: true,
        filter: { allow: ['read', 'list*', '*_file', '*any*', '*'], deny: ['read_secret'] },
        maxConcurrency: 2,
        maxResponseBytes: 2048,
        forwardBaggage: false,
        isPublic: true,
      },
      {
        connection: { url: 'http://10.0.0.1/mcp', transport: 'sse', headers: { 'X-Key': 'abc', 'X-Number': '1' } },
      },
    ]);
  });

  test('gets numbers as they are written', async () => {
    const members = 'args: [1.10, 0o17], envs: {VERSION: 1.10, ID: 12345678901234567890, MODE: 0644, SMALL: 1e3}';
    expect(await serversOf(server(`${members}, timeout: 1e3`))).toMatchObject([
      {
        connection: {
          args: ['1.10', '0o17'],
          envs: { VERSION: '1.10', ID: '12345678901234567890', MODE: '0644', SMALL: '1e3' },
        },
        timeoutMs: 1000,
      },
    ]);
  });

  test('can name its variables env, and inherit all', async () => {
    expect(await serversOf(server('env: {A: b}, inherit_env: true, cwd: /srv'))).toMatchObject([
      { connection: { envs: { A: 'b' }, inheritEnv: true, cwd: resolve('/srv') } },
    ]);
  });

  test('of this machine needs no https', async () => {
    const url = 'http://[::1]:8080/mcp';
    expect(await serversOf(`servers: [{name: web, url: "${url}"}]`)).toMatchObject([{ connection: { url } }]);
  });

  test('that is absent is not configured', async () => {
    expect((await configOf('servers: []')).servers).toEqual([]);
    expect((await configOf('servers: null')).servers).toBeUndefined();
  });
});

const ALL_KEYS =
  'All keys: https://github.com/uchimanajet7/openai-responses-mcp/blob/main/docs/gateway.md#configuration';

describe('a problem', () => {
  const NAME = 'expected a name of at most 32 letters, digits, - and _, without __, other than openai-responses-mcp';

  test.each(['', '_a', 'a__b', 'a b', 'x'.repeat(33), 'openai-responses-mcp'])('is the name %j', async (name) => {
    expect(await problemsOf(`servers: [{name: "${name}", command: a}]`)).toEqual([`servers[0].name: ${name}: ${NAME}`]);
  });

  test.each([
    ['args: --verbose', 'args: --verbose: expected a list of texts'],
    ['inherit_env: HOME', 'inherit_env: HOME: expected a list of names of environment variables, or true'],
    ['inherit_env: [ALICE_TOKEN]', 'inherit_env: ALICE_TOKEN: expected no variable with a key of this program'],
    ['tools: {rename: {a: b c}}', 'tools.rename.a: b c: expected a name of at most 64 letters, digits, - and _'],
    ['tools: {only: [read]}', `tools.only: unknown key; did you mean allow? ${ALL_KEYS}`],
    [
      'tools: {deny: ["**"]}',
      'tools.deny: ["**"]: expected a list of names of tools, with * at either end for any text',
    ],
    [
      'tools: {rename: [a]}',
      'tools.rename: ["a"]: expected a map of the server\'s own names to new names, all different',
    ],
    ['telemetry: true', `telemetry: unknown key. ${ALL_KEYS}`],
    ['environment: {A: b}', `environment: unknown key; did you mean envs? ${ALL_KEYS}`],
    ['arguments: [a]', `arguments: unknown key; did you mean args? ${ALL_KEYS}`],
    ['workingDirectory: /srv', `workingDirectory: unknown key; did you mean cwd? ${ALL_KEYS}`],
    ['allowedTools: [a]', `allowedTools: unknown key; did you mean tools.allow? ${ALL_KEYS}`],
    ['startup-timeout: 1', `startup-timeout: unknown key; did you mean startup_timeout? ${ALL_KEYS}`],
    ['timeout_ms: 1', `timeout_ms: unknown key; did you mean timeout? ${ALL_KEYS}`],
    ['constructor: 1', `constructor: unknown key. ${ALL_KEYS}`],
    ['url: "https://a.example"', ': expected exactly one of command and url'],
    ['headers: {A: b}', 'headers: has no effect on a server with a command'],
    ['envs: {A: b}, env: {A: b}', 'env: is the same as envs; set only one'],
    ['timout: 1', `timout: unknown key; did you mean timeout? ${ALL_KEYS}`],
  ])('is %s', async (members, problem) => {
    const separator = problem.startsWith(':') ? '' : '.';
    const callers = 'http: {token_env: {alice: ALICE_TOKEN}}\n';
    expect(await problemsOf(callers + server(members))).toEqual([`servers[0]${separator}${problem}`]);
  });

  test('of a remote server is a key of a server with a command', async () => {
    expect(await problemsOf(remote('envs: {A: b}'))).toEqual(['servers[0].envs: has no effect on a server with a url']);
  });

  test.each([
    ['mcp.example.com', 'url: mcp.example.com: expected an http:// or https:// URL'],
    ['https://user:secret@mcp.example.com', 'url: expected a URL without user and password; use headers'],
    [
      'http://mcp.example.com/mcp',
      'url: http://mcp.example.com/mcp: expected https://, because others could read an http:// connection; or set allow_insecure: true',
    ],
  ])('is the URL %s', async (url, problem) => {
    expect(await problemsOf(`servers: [{name: web, url: "${url}"}]`)).toEqual([`servers[0].${problem}`]);
  });

  test.each([
    ['nothing', '', ['servers[0].name: required: a name', 'servers[0]: expected exactly one of command and url']],
    ['a text', 'files', ['servers[0]: expected a server: an object with a command or a url']],
  ])('is %s in place of a server', async (_, value, expected) => {
    const found = await problemsOf(`servers: [${value === '' ? '{}' : value}]`);
    expect(found).toHaveLength(expected.length);
    for (const [index, start] of expected.entries()) expect(found[index]).toContain(start);
  });

  test('is a name that is used twice, even if the other server has another problem', async () => {
    expect(await problemsOf('servers: [{name: a, command: x, timeout: 0}, {name: a, command: y}]')).toEqual([
      'servers[0].timeout: 0: expected an integer of milliseconds, 1 or greater',
      'servers[1].name: a: another server already has this name',
    ]);
  });

  test('is reported together with all others', async () => {
    const yaml = `policy: {max_citations: 11}
servers:
  - {name: a b, command: x}
  - {name: web, url: "https://a.example", timeout: 0, timeot: 1}
`;
    expect((await problemsOf(yaml)).map((problem) => problem.split(':')[0])).toEqual([
      'policy.max_citations',
      'servers[0].name',
      'servers[1].timeot',
      'servers[1].timeout',
    ]);
  });
});

describe('secrets', () => {
  test.each([
    'servers: {files: {command: x, envs: {TOKEN: hunter2secret}}}',
    'servers: [[{name: files, command: x, envs: {TOKEN: hunter2secret}}]]',
    server('envs: {TOKEN: [hunter2secret]}'),
    server('envs: [hunter2secret]'),
    remote('headers: {X-Key: "hunter2secret\\nx"}'),
  ])('are not shown in problems: %j', async (yaml) => {
    const found = await problemsOf(yaml);
    expect(found).toHaveLength(1);
    expect(found.join()).not.toContain('hunter2secret');
  });

  test('are named by their path', async () => {
    expect(await problemsOf(server('envs: {TOKEN: [a], OTHER: null}'))).toEqual([
      'servers[0].envs.TOKEN: expected a text',
      'servers[0].envs.OTHER: expected a text',
    ]);
    expect(await problemsOf(remote('headers: {"bad name": a}'))).toEqual([
      'servers[0].headers.bad name: expected the name of an HTTP header, and its value in one line',
    ]);
  });

  test.each([
    [server('envs: {KEY: sk-proj-Ab12cd34}'), 'envs.KEY'],
    [remote('headers: {Authorization: Bearer sk-proj-Ab12cd34}'), 'headers.Authorization'],
  ])('that look like a key must not be in the YAML file: %j', async (yaml, key) => {
    expect(await problemsOf(yaml)).toEqual([
      `servers[0].${key}: expected no API key: set the key in a variable, and write \${NAME} with the name of the variable`,
    ]);
  });

  test('are not in the shown configuration', async () => {
    const yaml = `servers:
  - {name: files, command: x, args: [a], envs: {TOKEN: hunter2secret}}
  - {name: more, command: x, env: {TOKEN: "\${TOKEN}"}}
  - {name: web, url: "https://a.example", headers: {X-Key: hunter2secret}}
`;
    const given = {
      environment: { TOKEN: 'hunter2secret' },
      commandLine: { '--servers': at('servers.json') },
      json: { mcpServers: { other: { command: 'y', env: { TOKEN: 'sk-hunter2secret' } } } },
    };
    const { effective } = await (await configOf(yaml, given)).shown();
    expect(effective.servers).toMatchObject([
      { name: 'files', command: 'x', args: ['a'], envs: { TOKEN: '[redacted]' } },
      { name: 'more', command: 'x', env: { TOKEN: '[redacted]' } },
      { name: 'web', url: 'https://a.example', headers: { 'X-Key': '[redacted]' } },
      { name: 'other', command: 'y', env: { TOKEN: '[redacted]' } },
    ]);
    expect(JSON.stringify(effective)).not.toContain('hunter2');
  });
});

describe('variables', () => {
  const environment = { NAME: 'value', EMPTY: '', lower_1: 'low' };

  test.each([
    [`\${NAME}`, 'value'],
    [`a-\${NAME:-other}-\${lower_1}`, 'a-value-low'],
    [`\${EMPTY:-other text}`, 'other text'],
    [`\${NONE:-}`, ''],
    ['$NAME and {NAME}', '$NAME and {NAME}'],
  ])('%s is %j', async (text, expected) => {
    const yaml = `servers:
  - {name: files, command: "x${text}", args: ["${text}"], envs: {A: "${text}"}}
  - {name: web, url: "https://a.example/${text}", headers: {X-A: "${text}"}}
`;
    expect(await serversOf(yaml, { environment })).toMatchObject([
      { connection: { command: `x${expected}`, args: [expected], envs: { A: expected } } },
      { connection: { url: `https://a.example/${expected}`, headers: { 'X-A': expected } } },
    ]);
  });

  test('that are missing or empty are problems, each with its place', async () => {
    const yaml = `servers:
  - {name: files, command: "\${NONE}", args: [a, "\${NONE}"], envs: {A: "\${EMPTY}"}}
  - {name: web, url: "https://a.example/\${NONE}", headers: {X-A: "\${NONE}"}}
`;
    expect(await problemsOf(yaml, { environment })).toEqual([
      'servers[0].command: the environment variable NONE is not set',
      'servers[0].args[1]: the environment variable NONE is not set',
      'servers[0].envs.A: the environment variable EMPTY is not set',
      'servers[1].url: the environment variable NONE is not set',
      'servers[1].headers.X-A: the environment variable NONE is not set',
    ]);
  });

  test('can be those with our keys, which a server then gets on purpose', async () => {
    const given = { environment: { OPENAI_API_KEY: 'sk-proj-Ab12cd34' } };
    expect(await serversOf(server(`envs: {KEY: "\${OPENAI_API_KEY}"}`), given)).toMatchObject([
      { connection: { envs: { KEY: 'sk-proj-Ab12cd34' } } },
    ]);
  });

  test('a value of a variable is not shown in a problem with the URL', async () => {
    const yaml = `servers: [{name: web, url: "\${URL}"}]`;
    expect(await problemsOf(yaml, { environment: { URL: 'ftp://hunter2secret' } })).toEqual([
      `servers[0].url: \${URL}: expected an http:// or https:// URL`,
    ]);
  });
});

test.each(['', '# servers: []\n'])('a file of %j has no keys, but is a problem in a reload', async (yaml) => {
  expect((await configOf(yaml)).servers).toBeUndefined();
  const commandLine = { '--config': at('config.yaml') };
  const message =
    'expected at least one key: the file may not be completely written yet; for no servers, write servers: []';
  expect(await loadConfig({ environment: {}, commandLine, version: '1.2.3', isReload: true })).toMatchObject({
    problems: [{ where: at('config.yaml'), message }],
  });
});

test('DEFAULT_TIMEOUT is the time limit of servers without their own', async () => {
  const yaml = 'servers: [{name: a, command: x}, {name: b, command: x, timeout: 5}]';
  const servers = await serversOf(yaml, { environment: { DEFAULT_TIMEOUT: ' 1234 ' } });
  expect(servers?.map(({ timeoutMs }) => timeoutMs)).toEqual([1234, 5]);
  expect(await problemsOf(yaml, { environment: { DEFAULT_TIMEOUT: '0' } })).toEqual([
    'DEFAULT_TIMEOUT: 0: expected an integer of milliseconds, 1 or greater',
  ]);
});

test('tools have the names, descriptions and hints that are configured', async () => {
  const rules = 'allow: ["*"], rename: {__proto__: a, b: c}, describe: {c: "日本"}, read_only: [get_*]';
  const [entry] = (await serversOf(server(`tools: {${rules}}`))) ?? [];
  expect(Object.entries(entry?.filter.rename ?? {})).toEqual([
    ['__proto__', 'a'],
    ['b', 'c'],
  ]);
  expect(entry?.filter).toMatchObject({ allow: ['*'], describe: { c: '日本' }, readOnly: ['get_*'] });
});

describe('the section gateway', () => {
  test('has these defaults', async () => {
    const logins = at('.config', 'openai-responses-mcp', 'logins');
    expect((await configOf(undefined)).gateway).toEqual({
      inheritEnv: [],
      expose: false,
      always: [],
      logins,
      watch: false,
    });
    expect((await (await configOf('gateway: {expose: false}')).shown()).effective.gateway).toMatchObject({ logins });
    expect(existsSync(at('.config'))).toBe(false);
  });

  test('is read', async () => {
    const read = { inheritEnv: ['A'], expose: true, always: [], logins: at('mine'), watch: true };
    expect((await configOf('gateway: {inherit_env: [A], expose: true, logins: mine, watch: true}')).gateway).toEqual(
      read,
    );
    expect((await configOf('gateway: {logins: ~/mine}')).gateway.logins).toBe(at('mine'));
    expect((await configOf(undefined, { commandLine: { '--expose': '' } })).gateway.expose).toBe(true);
    expect((await configOf(undefined, { commandLine: { '--expose': 'auto' } })).gateway.expose).toBe('auto');
  });

  test('names the file of the approved tools, which must be one', async () => {
    const file = at('tools.lock.json');
    const yaml = 'gateway: {lock: tools.lock.json}';
    const config = at('config.yaml');
    const advice = `write them with: openai-responses-mcp tools --lock`;
    expect(await problemsOf(yaml)).toEqual([`gateway.lock: ${file}: expected the approved tools (ENOENT); ${advice}`]);
    writeFileSync(file, '{"version":2,"servers":{}}');
    const damaged = `gateway.lock: ${file}: expected the approved tools (it is damaged, or of another version); ${advice}`;
    expect(await problemsOf(yaml)).toEqual([damaged]);
    const commandLine = { '--config': config };
    const options = { environment: {}, commandLine, version: '1.2.3' };
    expect(await loadConfig({ ...options, writesLock: true })).toMatchObject({ value: { lock: { file } } });
    writeFileSync(file, '\uFEFF{"version":1,"servers":{}}');
    expect(await configOf(yaml)).toMatchObject({
      gateway: { lock: file },
      lock: { file, approved: { servers: {} } },
      files: [config, file],
    });
    expect((await (await configOf(yaml)).shown()).effective.gateway).toMatchObject({ lock: file });
  });

  test('has tools that are always listed, of servers that are configured', async () => {
    const yaml = (...always: readonly string[]) =>
      `${server('')}\ngateway: ${JSON.stringify({ expose: 'search', always })}`;
    const always = ['files/a', 'files/get_*', 'files/*_b', 'files/*'];
    expect((await configOf(yaml(...always))).gateway).toMatchObject({ expose: 'search', always });
    expect(await problemsOf(yaml(...always, 'other/c', 'other/d'))).toEqual([
      'gateway.always: other: expected the name of a server; the servers are files',
    ]);
    for (const wrong of ['files', 'files/a*b'])
      expect(await problemsOf(yaml(wrong))).toEqual([
        expect.stringMatching(/^gateway\.always: .*expected a list of server\/tool/),
      ]);
  });

  test('has problems like any other', async () => {
    expect(await problemsOf('gateway: {expose: 1, servers_fil: x}')).toEqual([
      'gateway.expose: 1: expected true, false, search or auto',
      'gateway.servers_fil: unknown key; did you mean gateway.servers_file?',
    ]);
  });
});
