import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { hashOfToken } from '../../../../../src/adapters/outbound/config/http-config.ts';
import { KEYS } from '../../../../../src/adapters/outbound/config/keys.ts';
import type { CommandLineOptions } from '../../../../../src/adapters/outbound/config/set-keys.ts';
import type { Environment } from '../../../../../src/adapters/outbound/network/environment.ts';
import { SYSTEM_POLICY } from '../../../../../src/domain/answers/system-policy.ts';
import { isObject } from '../../../../../src/domain/values/json.ts';
import { givenConfig } from '../../../../support/given-config.ts';
import { posixTest } from '../../../../support/platform.ts';

const KEY = 'sk-proj-Ab12_cd34-EF56';

interface Given {
  readonly yaml?: string;
  readonly environment?: Environment;
  readonly commandLine?: CommandLineOptions;
}

const { at, ...given } = givenConfig();
const load = ({ yaml, environment, commandLine }: Given = {}) => given.load(yaml, environment, commandLine);
const config = ({ yaml, environment, commandLine }: Given = {}) => given.acceptedConfig(yaml, environment, commandLine);
const problems = ({ yaml, environment, commandLine }: Given) => given.problemsOf(yaml, environment, commandLine);
/** The problems in a YAML file, all of which name it. */
const yamlProblems = async (yaml: string) => {
  const found = await problems({ yaml });
  return found.map(({ file, ...problem }) => {
    expect(file).toBe(at('config.yaml'));
    return problem;
  });
};

test('a variable that is probably mistyped is named beside the problems that it may have caused', async () => {
  const environment = { MCP_HTTP_TOKENS: 'token-of-alice-0123456789' };
  const found = await problems({ environment, commandLine: { '--http': '0.0.0.0:3917' } });
  expect(found.map(({ where }) => where)).toEqual(['--http (http.listen)', 'MCP_HTTP_TOKENS']);
  expect(JSON.stringify(found)).not.toContain('alice');
});

test('a variable that a server uses is not mistyped', async () => {
  const yaml = `servers: [{ name: a, command: b, envs: { K: "\${OPENAI_API_KEY_2}" }, inherit_env: [MCP_TOOL_ERROR] }]`;
  const environment = { OPENAI_API_KEY_2: 'x', MCP_TOOL_ERROR: 'x', MCP_TOOL_EROR: 'x' };
  const { notices } = await config({ yaml, environment });
  expect(notices.map(({ where }) => where)).toEqual(['MCP_TOOL_EROR']);
});

test('the defaults are those of the contract', async () => {
  expect(await config()).toMatchObject({
    profiles: { answer: { model: 'gpt-5.2', reasoningEffort: 'medium', verbosity: 'medium' } },
    request: { timeoutMs: 300_000, maxRetries: 3 },
    policy: { maxCitations: 3 },
    openai: { apiKeyVariable: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1', store: false },
    search: { defaults: { recencyDays: 60, maxResults: 5, domains: [] }, domainFilter: 'hint' },
    llm: { adapter: 'openai' },
    server: { debug: false, showConfigOnStart: false, toolErrors: 'protocol', lineMode: false },
  });
});

describe('YAML', () => {
  test('is read from the default path if no other is named', async () => {
    mkdirSync(at('.config/openai-responses-mcp'), { recursive: true });
    const path = at('.config/openai-responses-mcp/config.yaml');
    writeFileSync(path, 'policy: { max_citations: 7 }');
    const { policy, sources } = await config();
    expect(policy.maxCitations).toBe(7);
    expect(sources.yaml).toBe(path);
  });

  test.each([
    ['a comment', '# nothing yet\n'],
    ['a byte order mark', '\uFEFF'],
  ])('that contains %s changes nothing', async (_, yaml) => {
    expect((await config({ yaml })).policy.maxCitations).toBe(3);
  });

  test('is merged deeply over the defaults', async () => {
    const { profiles, search } = await config({
      yaml: 'model_profiles: { answer: { verbosity: low } }\nsearch: { defaults: { max_results: 9 } }',
    });
    const given = { verbosity: 'low', configured: ['verbosity'] };
    expect(profiles.answer).toEqual({ model: 'gpt-5.2', reasoningEffort: 'medium', search: 'auto', ...given });
    expect(search.defaults).toEqual({ recencyDays: 60, maxResults: 9, domains: [] });
  });

  test('may contain every key', async () => {
    const yaml = `
openai: { organization: org-1, project: proj_1, store: true }
request: { timeout_ms: 1099511627776 }
model_profiles:
  answer: { max_output_tokens: 4000, max_tool_calls: 5, search_context_size: low, reasoning_effort: max }
search:
  defaults: { domains: [https://JMA.go.jp/, tenki.jp] }
  domain_filter: strict
  user_location: { country: JP, region: Tokyo, city: Minato, timezone: Asia/Tokyo }
server: { tool_errors: result, show_config_on_start: true }
`;
    expect(await config({ yaml })).toMatchObject({
      openai: { organization: 'org-1', project: 'proj_1', store: true },
      request: { timeoutMs: 2 ** 40 },
      profiles: {
        answer: { maxOutputTokens: 4000, maxToolCalls: 5, searchContextSize: 'low', reasoningEffort: 'max' },
      },
      search: {
        defaults: { domains: ['jma.go.jp', 'tenki.jp'] },
        domainFilter: 'strict',
        userLocation: { country: 'JP', region: 'Tokyo', city: 'Minato', timezone: 'Asia/Tokyo' },
      },
      server: { toolErrors: 'result', showConfigOnStart: true },
    });
  });

  test.each(['request:\n', 'request: { timeout_ms: null }'])('null is absent: %s', async (yaml) => {
    expect((await config({ yaml })).request.timeoutMs).toBe(300_000);
  });

  test('answer: null removes the default profile', async () => {
    const { profiles } = await config({ yaml: 'model_profiles: { answer: null, answer_quick: { model: o3 } }' });
    expect(profiles).toEqual({ answer_quick: { model: 'o3' } });
  });
});

describe('layers', () => {
  test('quotation marks around an ID of a header are no part of it', async () => {
    const environment = { OPENAI_ORG_ID: '"org-1"', OPENAI_PROJECT_ID: '“proj_1”' };
    expect((await config({ environment })).openai).toMatchObject({ organization: 'org-1', project: 'proj_1' });
  });

  test('a proxy variable that contains only blanks is absent', async () => {
    const { openai, sources } = await config({ environment: { HTTPS_PROXY: ' ', NO_PROXY: 'localhost' } });
    expect({ proxy: openai.proxy, env: sources.env }).toEqual({ proxy: undefined, env: [] });
  });

  test.each([
    ['', 'http://proxy:1/'],
    ['localhost,proxied.example', 'http://proxy:1/'],
    ['*', undefined],
  ])(
    'cited pages are read by the proxy for https, also if requests to the API need none (NO_PROXY: %j)',
    async (bypass, expected) => {
      const environment = {
        HTTPS_PROXY: 'http://proxy:1/',
        NO_PROXY: bypass,
        OPENAI_BASE_URL: 'http://localhost:11434/v1',
      };
      expect((await config({ environment })).pageProxy).toBe(expected);
    },
  );

  test('quotation marks around a key and a token are removed, with one notice for each', async () => {
    const { openai, http, notices } = await config({
      environment: { OPENAI_API_KEY: '"sk-quoted-0123456789"', MCP_HTTP_TOKEN: '“token-quoted”' },
      commandLine: { '--http': '' },
    });
    expect(openai.apiKey).toBe('sk-quoted-0123456789');
    expect(http?.tokens.map(({ hash }) => hash)).toEqual([hashOfToken('token-quoted')]);
    expect(notices.map(({ where }) => where)).toEqual(['OPENAI_API_KEY', 'MCP_HTTP_TOKEN']);
  });

  test('a map of tokens in the environment is merged over that in YAML', async () => {
    const { http } = await config({
      yaml: 'http: { token_env: { alice: A, bob: B } }',
      environment: { MCP_HTTP_TOKEN_ENV: 'bob=C', A: 'token-a', B: 'token-b', C: 'token-c' },
      commandLine: { '--http': '' },
    });
    expect(http?.tokens).toEqual([
      { caller: 'alice', hash: hashOfToken('token-a') },
      { caller: 'bob', hash: hashOfToken('token-c') },
    ]);
  });

  // S3
  test('the environment overrides YAML, and YAML the defaults', async () => {
    const yaml = 'policy: { max_citations: 5 }\nrequest: { timeout_ms: 1000, max_retries: 1 }';
    expect(await config({ yaml, environment: { MAX_CITATIONS: '7', OPENAI_API_TIMEOUT: '2000' } })).toMatchObject({
      policy: { maxCitations: 7 },
      request: { timeoutMs: 2000, maxRetries: 1 },
    });
  });

  test.each([
    ['YAML', {}, {}, true],
    ['the environment over YAML', { DEBUG: '0' }, {}, false],
    ['the command line over the environment', { DEBUG: '0' }, { '--debug': '' }, true],
    ['the command line, set to off,', { DEBUG: '1' }, { '--debug': '0' }, false],
    ['what belongs to another program', { DEBUG: 'express:*' }, {}, true],
  ])('%s decides whether debug is on', async (_, environment, commandLine, debug) => {
    expect((await config({ yaml: 'server: { debug: true }', environment, commandLine })).server.debug).toBe(debug);
  });

  test('a debug file comes from DEBUG, from --debug and from YAML', async () => {
    const [env, cli, yaml] = ['env.log', 'cli.log', 'yaml.log'].map((name) => at(name));
    const fileOf = async (given: Given) => {
      const { debug, debugFile } = (await config(given)).server;
      return debug && debugFile;
    };
    const environment = { DEBUG: env };
    expect(await fileOf({ environment })).toBe(env);
    expect(await fileOf({ environment, commandLine: { '--debug': cli ?? '' } })).toBe(cli);
    expect(await fileOf({ yaml: 'server: { debug: true, debug_file: ~/yaml.log }' })).toBe(yaml);
    expect(await fileOf({ yaml: 'server: { debug_file: yaml.log }', environment: { DEBUG: '1' } })).toBe(yaml);
  });

  test('--offline overrides YAML, and may name recordings', async () => {
    const offline = { adapter: 'offline', recordPrivate: false };
    expect((await config({ commandLine: { '--offline': '' } })).llm).toEqual(offline);
    expect((await config({ commandLine: { '--offline': at() } })).llm).toEqual({ ...offline, recordings: at() });
  });

  test('only YAML allows to record private answers', async () => {
    const yaml = 'llm: { record: recorded, record_private: true }';
    expect((await config({ yaml })).llm).toMatchObject({ record: at('recorded'), recordPrivate: true });
  });
});

describe('the key', () => {
  test.each([
    [`\t${KEY} \r\n`, KEY],
    [' \n', undefined],
  ])('%j is the key %s', async (text, key) => {
    expect((await config({ environment: { OPENAI_API_KEY: text } })).openai.apiKey).toBe(key);
  });

  test('is read from the configured variable only', async () => {
    const yaml = 'openai: { api_key_env: MY_KEY }';
    const environment = { OPENAI_API_KEY: 'sk-another-key', MY_KEY: KEY };
    expect((await config({ yaml, environment })).openai).toMatchObject({ apiKey: KEY, apiKeyVariable: 'MY_KEY' });
    expect('apiKey' in (await config({ yaml, environment: { OPENAI_API_KEY: KEY } })).openai).toBe(false);
  });
});

describe('a key in a file', () => {
  const keyFile = (content: string) => {
    const path = at('key');
    writeFileSync(path, content);
    return { OPENAI_API_KEY_FILE: path };
  };

  test('is read without the surrounding characters', async () => {
    expect((await config({ environment: keyFile(`\uFEFF${KEY}\r\n`) })).openai).toMatchObject({
      apiKey: KEY,
      apiKeyVariable: 'OPENAI_API_KEY_FILE',
    });
  });

  test.each([
    ['that does not exist', () => ({ OPENAI_API_KEY_FILE: at('no') })],
    ['that is empty', () => keyFile('\n')],
  ])('%s is a problem', async (_, environment) => {
    const found = await problems({ environment: environment() });
    expect(found.map(({ where }) => where)).toEqual(['OPENAI_API_KEY_FILE']);
    expect(JSON.stringify(found)).not.toContain(KEY);
  });
});

describe('a key of a command', () => {
  test('is not read with the configuration', async () => {
    const environment = { OPENAI_API_KEY_COMMAND: "op read 'op://my vault/key'" };
    const { openai, secretVariables } = await config({ environment });
    expect(openai).toMatchObject({
      apiKeyVariable: 'OPENAI_API_KEY_COMMAND',
      apiKeySource: { kind: 'command', words: ['op', 'read', 'op://my vault/key'], folder: process.cwd() },
    });
    expect('apiKey' in openai).toBe(false);
    expect(secretVariables).toContain('OPENAI_API_KEY_COMMAND');
  });

  test('counts after the variable and the file, and has the name of the configured variable', async () => {
    const all = { OPENAI_API_KEY: KEY, OPENAI_API_KEY_FILE: at('no'), OPENAI_API_KEY_COMMAND: 'op' };
    expect((await config({ environment: all })).openai).toMatchObject({
      apiKey: KEY,
      apiKeyVariable: 'OPENAI_API_KEY',
    });
    writeFileSync(at('key'), KEY);
    const both = { OPENAI_API_KEY_FILE: at('key'), OPENAI_API_KEY_COMMAND: 'op' };
    expect((await config({ environment: both })).openai.apiKeyVariable).toBe('OPENAI_API_KEY_FILE');
    const yaml = 'openai: { api_key_env: MY_KEY }';
    expect((await config({ yaml, environment: { MY_KEY_COMMAND: 'op' } })).openai.apiKeyVariable).toBe(
      'MY_KEY_COMMAND',
    );
  });

  test('with a quotation that is not closed is a problem, which does not show it', async () => {
    const found = await problems({ environment: { OPENAI_API_KEY_COMMAND: `printf '${KEY}` } });
    expect(found.map(({ where }) => where)).toEqual(['OPENAI_API_KEY_COMMAND']);
    expect(JSON.stringify(found)).not.toContain(KEY);
  });
});

describe('the system policy', () => {
  const policy = (merge: string) => `policy: { system: { source: file, path: my/policy.md, merge: ${merge} } }`;

  beforeEach(() => {
    mkdirSync(at('my'));
    writeFileSync(at('my/policy.md'), '\uFEFFBe brief.\n');
  });

  test.each([
    ['replace', 'Be brief.'],
    ['prepend', `Be brief.\n\n${SYSTEM_POLICY}`],
    ['append', `${SYSTEM_POLICY}\n\nBe brief.`],
  ])(
    'is combined with a file, found relative to the folder of the configuration, by %s',
    async (merge, instructions) => {
      expect((await config({ yaml: policy(merge) })).instructions).toBe(instructions);
    },
  );

  test('is replaced by a file by default', async () => {
    const yaml = 'policy: { system: { source: file, path: ~/my/policy.md } }';
    expect((await config({ yaml })).instructions).toBe('Be brief.');
  });

  test('is the built-in one if a source is named and no file', async () => {
    expect((await config({ yaml: 'policy: { system: { source: builtin } }' })).instructions).toBeUndefined();
  });

  test.each([
    ['no.md', 'expected a policy file that can be read (ENOENT)'],
    ['empty.md', 'expected a policy file that can be read (it is empty)'],
  ])('in the file %s is a problem', async (path, message) => {
    writeFileSync(at('empty.md'), ' \n');
    expect(await yamlProblems(`policy: { system: { source: file, path: ${path} } }`)).toEqual([
      { where: 'policy.system.path', value: at(path), message },
    ]);
  });

  test('in a file that is not named is a problem', async () => {
    expect(await problems({ yaml: 'policy: { system: { source: file } }' })).toMatchObject([
      { where: 'policy.system.path' },
    ]);
  });
});

describe('problems', () => {
  test('a key with a value that is not accepted is not said to be missing', async () => {
    const yaml = 'http: { oauth: { issuer: "http://auth.example.com", audience: "https://mcp.example.com/mcp" } }';
    const found = await problems({ yaml, commandLine: { '--http': '' } });
    expect(found).toMatchObject([{ where: 'http.oauth.issuer', value: 'http://auth.example.com' }]);
  });

  // S4
  test('are reported together, from every layer', async () => {
    const yaml = `
request: { timeout_ms: 0, max_retries: two }
policy: { max_citations: 11, system: { source: file, path: no.md } }
model_profiles: { answer: { verbosity: loud } }
serach: {}
`;
    const found = await problems({ yaml, environment: { SEARCH_MAX_RESULTS: 'many', MCP_LINE_MODE: 'x' } });
    expect(found.map(({ where }) => where).sort()).toEqual([
      'MCP_LINE_MODE',
      'SEARCH_MAX_RESULTS',
      'model_profiles.answer.verbosity',
      'policy.max_citations',
      'policy.system.path',
      'request.max_retries',
      'request.timeout_ms',
      'serach',
    ]);
  });

  test.each([
    ['request: { timeout_ms: 0 }', 'request.timeout_ms', '0', 'an integer of milliseconds, 1 or greater'],
    [
      'search: { defaults: { domains: jma.go.jp } }',
      'search.defaults.domains',
      'jma.go.jp',
      'a list of host names, such as [jma.go.jp, tenki.jp]',
    ],
    [
      'openai: { base_url: "https://me:secret@a.com" }',
      'openai.base_url',
      'https://[redacted]@a.com',
      'an http:// or https:// URL without user, query or fragment, such as https://api.openai.com/v1',
    ],
    ['request: 7', 'request', '7', 'a section of keys'],
  ])('%s', async (yaml, where, value, accepted) => {
    expect(await yamlProblems(yaml)).toEqual([{ where, value, message: `expected ${accepted}` }]);
  });

  test.each([
    ['serach: { defaults: {} }', 'serach', 'search'],
    ['server.debug: true', '"server.debug"', 'server.debug'],
    ['model_profiles: { answer.model: o3 }', 'model_profiles."answer.model"', 'model_profiles.answer.model'],
    ['model_profiles: { answr: { model: o3 } }', 'model_profiles.answr', 'model_profiles.answer'],
    ['search: { max_results: 3 }', 'search.max_results', 'search.defaults.max_results'],
    ['max_citations: 3', 'max_citations', 'policy.max_citations'],
  ])('an unknown key is reported with the nearest known one: %s', async (yaml, where, nearest) => {
    expect(await yamlProblems(yaml)).toEqual([{ where, message: `unknown key; did you mean ${nearest}?` }]);
  });

  test('an unknown key that resembles no other is reported with the list of keys', async () => {
    const list =
      'https://github.com/uchimanajet7/openai-responses-mcp/blob/main/docs/reference/config-reference.md#keys';
    expect(await yamlProblems('telemetry: true')).toEqual([
      { where: 'telemetry', message: `unknown key; all keys: ${list}` },
    ]);
  });

  test('a file that is not a mapping', async () => {
    const problem = { where: 'the file', value: '[1,2]', message: 'expected a section of keys' };
    expect(await yamlProblems('[1, 2]')).toEqual([problem]);
  });

  test.each(['a: [1', 'request: {}\nrequest: {}', 'a: 1\n---\nb: 2'])('a file that is not YAML: %j', async (yaml) => {
    const message = expect.stringMatching(
      /^expected a file in YAML \((?:.+ at line \d+, column \d+|it contains more than one document)\)$/,
    );
    expect(await problems({ yaml })).toEqual([{ where: at('config.yaml'), message }]);
  });

  const levels = 'bcdefgh'.split('').map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[at]}`)}]`);
  test.each([
    ['aliases that multiply', ['a: &a [x]', ...levels].join('\n'), 'its aliases stand for too many values'],
    ['an alias of nothing', 'a: *nothing', 'Unresolved alias (the anchor must be set before the alias): nothing'],
    ['a list that contains itself', 'servers: &all [*all]', 'an alias is inside of its own anchor'],
    [
      'a server that contains itself',
      'servers: [&a {name: x, url: "https://a.example", auth: *a}]',
      'an alias is inside',
    ],
    ['a text of many levels', `a: ${'['.repeat(5000)}`, 'it is nested too deeply'],
    ['values of many levels', `a: ${'['.repeat(5000)}${']'.repeat(5000)}`, 'it is nested too deeply'],
    ['a mapping of many levels', '? '.repeat(5000), ''],
  ])('a file with %s', async (_, yaml, reason) => {
    expect(await problems({ yaml })).toEqual([
      { where: at('config.yaml'), message: expect.stringContaining(`expected a file in YAML (${reason}`) },
    ]);
  });

  test('an explicit file that does not exist', async () => {
    const configPath = at('no.yaml');
    expect(await problems({ commandLine: { '--config': configPath } })).toEqual([
      { where: `--config ${configPath}`, message: 'expected a YAML file that can be read (ENOENT)' },
    ]);
  });

  test('recordings that do not exist', async () => {
    const offline = at('no');
    const problem = { where: '--offline (llm.recordings)', value: offline };
    expect(await problems({ commandLine: { '--offline': offline } })).toMatchObject([problem]);
    const environment = { LLM_RECORDINGS: offline, LLM_ADAPTER: 'offline' };
    expect(await problems({ environment })).toMatchObject([{ where: 'LLM_RECORDINGS', value: offline }]);
    const yaml = `llm: { adapter: offline, recordings: ${JSON.stringify(offline)} }`;
    expect(await problems({ yaml })).toMatchObject([{ where: 'llm.recordings', value: offline }]);
  });

  test('a debug file that cannot be written', async () => {
    const debug = at('no/such/debug.log');
    expect(await problems({ environment: { DEBUG: debug } })).toMatchObject([{ where: 'DEBUG', value: debug }]);
  });
});

// S5
describe('a key in the wrong place', () => {
  test.each([
    ['openai: { api_key: KEY }', 'openai.api_key'],
    ['api_key: KEY', 'api_key'],
    ['openai: { api_key_env: KEY }', 'openai.api_key_env'],
    ['openai: { organization: KEY }', 'openai.organization'],
    ['openai: { anything: { deep: KEY } }', 'openai.anything'],
  ])('is a problem, and masked: %s', async (yaml, where) => {
    const found = await problems({ yaml: yaml.replace('KEY', KEY) });
    expect(found.map((problem) => problem.where)).toEqual([where]);
    expect(JSON.stringify(found)).not.toContain(KEY);
  });

  test.each([
    ['inside a value', { yaml: `openai: { base_url: "${KEY} " }\nrequest: { max_retries: "x ${KEY}" }` }],
    ['inside a list', { yaml: `search: { defaults: { domains: ["x y", ${KEY}] } }` }],
    ['as a name', { yaml: `${KEY}: 1` }],
    ['in a file that is not YAML', { yaml: `openai: api_key: ${KEY}` }],
    ['in a variable', { environment: { MAX_CITATIONS: KEY } }],
    ['as a path', { commandLine: { '--config': `/no/${KEY}` } }],
  ])('is masked %s', async (_, given) => {
    expect(JSON.stringify(await problems(given))).not.toContain(KEY);
  });
});

describe('a secret that does not look like a key', () => {
  const SECRET = 'token-0123456789+/abc==';

  test.each([
    ['where the name of a variable belongs', { environment: { MCP_HTTP_TOKEN_ENV: SECRET } }],
    ['of a caller in YAML', { yaml: `http: { token_env: { alice: "${SECRET}" } }` }],
    ['where the path of a key file belongs', { environment: { OPENAI_API_KEY_FILE: SECRET } }],
    ['in the query of the base URL', { environment: { OPENAI_BASE_URL: `https://a.com/v1?api-key=${SECRET}` } }],
    ['in the fragment of the base URL', { yaml: `openai: { base_url: "https://a.com/#${SECRET}" }` }],
    ['in the proxy', { environment: { HTTPS_PROXY: `http://me:${SECRET}@proxy:x` } }],
    ['in a proxy without a host', { environment: { HTTP_PROXY: `me:${SECRET}@` } }],
    ['with a space in the proxy', { environment: { HTTP_PROXY: `http://me:a ${SECRET} b@proxy` } }],
  ])('is masked %s', async (_, given) => {
    const found = await problems(given);
    expect(found).toHaveLength(1);
    expect(JSON.stringify(found)).not.toMatch(/token-|0123456789|abc==/);
  });

  posixTest('modes').for([
    [0o604, true],
    [0o640, undefined],
  ] as const)('a key file of mode %o can be read by others: %s', async ([mode, isKeyFileShared]) => {
    const path = at('key');
    writeFileSync(path, KEY);
    chmodSync(path, mode);
    const { openai } = await config({ environment: { OPENAI_API_KEY_FILE: path } });
    expect(openai.isKeyFileShared).toBe(isKeyFileShared);
  });
});

const DEFAULTS_OF_A_CHILD = {
  name: 'a',
  command: 'x',
  args: [],
  cwd: '',
  envs: {},
  inherit_env: [],
  timeout: 30_000,
  startup_timeout: 60_000,
  question_timeout: 600_000,
  idle_ms: 0,
  restart: 'on-failure',
  required: false,
  tools: {},
  max_concurrency: 64,
  max_response_bytes: 10 * 1024 * 1024,
  forward_baggage: false,
  public: false,
};

describe('the printed configuration', () => {
  test('states where it comes from', async () => {
    const yaml = 'policy: { max_citations: 5 }';
    const environment = { MAX_CITATIONS: '7', OPENAI_API_KEY: KEY, DEBUG: '0', MCP_LINE_MODE: '1', MODEL_ANSWER: '' };
    const commandLine = { '--debug': '' };
    const { version, sources } = await (await config({ yaml, environment, commandLine })).shown();
    expect(version).toBe('1.2.3');
    expect({ ...sources, env: [...sources.env].sort() }).toEqual({
      ts_defaults: true,
      yaml: at('config.yaml'),
      env: ['DEBUG', 'MAX_CITATIONS', 'MCP_LINE_MODE', 'OPENAI_API_KEY'],
      cli: ['--config', '--debug'],
    });
  });

  test('has every default in force', async () => {
    const { effective } = await (await config({ yaml: '', commandLine: { '--http': '' } })).shown();
    const shown = KEYS.filter(({ default: fallback, path }) => fallback !== undefined && !path.startsWith('audit.'));
    const valueAt = (path: string) =>
      path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), effective);
    for (const { path, default: fallback } of shown)
      expect(valueAt(path), path).toEqual(path === 'gateway.logins' ? expect.stringMatching(/logins$/) : fallback);
    expect(effective).not.toHaveProperty('audit');
  });

  test.each([
    ['audit: { file: a.jsonl }', '', { audit: { arguments: 'names', on_failure: 'refuse' } }],
    ['model_profiles: { answer_quick: { model: o3 } }', '', { model_profiles: { answer: { search: 'auto' } } }],
    [
      'http: { oauth: { issuer: "https://a.example", audience: "https://b.example/mcp" } }',
      '--http',
      { http: { oauth: { resource: 'https://b.example/mcp', caller_claim: 'sub' } } },
    ],
  ])('has the defaults of a configured section: %s', async (yaml, mode, expected) => {
    const { effective } = await (await config({ yaml, commandLine: mode === '' ? {} : { [mode]: '' } })).shown();
    expect(effective).toMatchObject(expected);
  });

  test.each([
    ['{name: a, command: x}', '', { start: 'on_use' }],
    ['{name: a, command: x}', '--http', { start: 'at_once' }],
    ['{name: a, command: x, start: on_use, cwd: sub, timeout: 5}', '--http', { start: 'on_use', timeout: 5 }],
  ])('has the defaults of the server %s, %s', async (server, mode, expected) => {
    const commandLine = mode === '' ? {} : { [mode]: '' };
    const { effective } = await (await config({ yaml: `servers: [${server}]`, commandLine })).shown();
    const cwd = server.includes('cwd') ? at('sub') : at();
    expect(effective.servers).toEqual([{ ...DEFAULTS_OF_A_CHILD, cwd, ...expected }]);
  });

  test('has the defaults of a remote server', async () => {
    const yaml = 'servers: [{name: a, url: "https://a.example", timeout: null}]';
    const { effective } = await (await config({ yaml, environment: { DEFAULT_TIMEOUT: '7' } })).shown();
    const { command: _, cwd: __, args: ___, envs: ____, inherit_env: _____, ...others } = DEFAULTS_OF_A_CHILD;
    const own = { url: 'https://a.example', transport: 'auto', headers: {}, allow_insecure: false, login: 'shared' };
    expect(effective.servers).toEqual([{ ...others, ...own, start: 'at_once', timeout: 7 }]);
  });

  test('can be written to a file and read again', async () => {
    const yaml =
      'search: { defaults: { domains: [jma.go.jp] } }\nmodel_profiles: { answer: null }\nservers: [{name: a, command: x}]';
    const first = await config({ yaml });
    const { effective } = await first.shown();
    const again = await config({ yaml: JSON.stringify(effective) });
    expect((await again.shown()).effective).toEqual(effective);
    expect(again.profiles).toEqual(first.profiles);
    expect(again.servers).toEqual(first.servers?.map((server) => ({ ...server, start: 'on_use' })));
  });
});

test('the files that a configuration names are known, also if it has problems', async () => {
  const missing = 'gateway:\n  lock: tools.lock\n  servers_file: servers.json\nmistyped: 1\n';
  expect(await load({ yaml: missing })).toMatchObject({
    problems: expect.any(Array),
    files: ['config.yaml', 'servers.json', 'tools.lock'].map((name) => at(name)),
  });
});
