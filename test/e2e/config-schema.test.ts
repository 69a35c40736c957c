import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from '@modelcontextprotocol/client/validators/ajv';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { type ConfigTree, KEYS } from '../../src/adapters/outbound/config/keys.ts';
import { readValue, type ValueKind } from '../../src/adapters/outbound/config/kinds.ts';
import { readAccess } from '../../src/adapters/outbound/config/sections.ts';
import { readServerEntry } from '../../src/adapters/outbound/config/server-entry.ts';
import { SERVER_TABLE } from '../../src/adapters/outbound/config/server-keys.ts';
import { toTree } from '../../src/adapters/outbound/config/table.ts';
import * as kinds from '../../src/adapters/outbound/config/value-kinds.ts';
import { readYamlFile } from '../../src/adapters/outbound/config/yaml-file.ts';
import type { ConfigProblem } from '../../src/application/ports/config.ts';
import { newFile } from './files.ts';
import { ROOT } from './serve.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false }).addKeyword('patternErrorMessage');
const isValid = ajv.compile(JSON.parse(read('config/config.schema.json')));

test.for([['config/config.yaml.example'], ['examples/gateway.yaml'], ['examples/grounded.yaml']])(
  '%s is valid',
  ([file = '']) => {
    isValid(parse(read(file)));
    expect(isValid.errors).toBe(null);
  },
);

test('the example is valid with the keys that are comments in it', () => {
  const example = read('config/config.yaml.example');
  const commented = example.replace(/^( *)# (?=(?: *- )? *[a-z_]+:(?: |$))(?!.*[a-z] [a-z]+ [a-z]+)/gm, '$1');
  expect(commented).toMatch(/^ {2}organization: org-example$/m);
  expect(commented).toMatch(/^ {2}- name: tickets$/m);
  isValid(parse(commented, { uniqueKeys: false }));
  expect(isValid.errors).toBe(null);
});

test('the examples in the documents are valid', () => {
  const blocks = [
    'README.md',
    'docs/gateway.md',
    'docs/team.md',
    'docs/grounded-answers.md',
    'docs/reference/config-reference.md',
  ]
    .flatMap((file) => [...read(file).matchAll(/```yaml\n([\s\S]*?)```/g)])
    .map(([, yaml = '']) => yaml);
  expect(blocks.length).toBeGreaterThan(3);
  expect(blocks.filter((yaml) => !isValid(parse(yaml)))).toEqual([]);
});

test('the example names the schema in a way that editors understand', () => {
  const { $id } = JSON.parse(read('config/config.schema.json'));
  expect(read('config/config.yaml.example').split('\n')[0]).toBe(`# yaml-language-server: $schema=${$id}`);
});

describe('a file is valid only if the program accepts it', () => {
  test.each([
    ['', true],
    ['request: { timeout_ms: null }', true],
    ['http: { token_env: { alice: TOKEN_A } }', true],
    ['- openai', false],
    ['opnai: {}', false],
    ['request: { timeout: 1000 }', false],
    ['request: { timeout_ms: "1000" }', false],
    ['openai: { api_key: sk-proj-0123456789abcdefghij }', false],
    ['model_profiles: { quick: { model: gpt-5.2 } }', false],
  ])('%j: %s', async (yaml, expected) => {
    expect(isValid(parse(yaml))).toBe(expected);
    const problems: ConfigProblem[] = [];
    await readYamlFile(newFile('config.yaml', yaml), 'config.yaml', false, problems);
    expect(problems.length === 0).toBe(expected);
  });
});

/** Kinds that no pattern describes completely: the schema accepts more. */
const { baseUrl, secureUrl, hostNames, requestHosts, origins, hostPort, timeZone, quotaStore } = kinds;
const LOOSE: readonly ValueKind[] = [
  ...[baseUrl, secureUrl, hostNames, requestHosts],
  ...[origins, hostPort, timeZone, quotaStore],
];
const SERVER_KEYS = Object.keys(SERVER_TABLE);
const WORDS = ['', ' a ', 'a b', 'A_B', 'high', 'JP', '例え.jp', '/healthz', '127.0.0.1:1', 'HTTPS://a/', '*'];
const scalar = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string(),
  fc.integer(),
  fc.integer({ min: -1, max: 20 }),
  fc.boolean(),
);
const anyValue = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.oneof(fc.constantFrom('a', 'alice@x'), fc.string()), fc.oneof(scalar, fc.array(scalar)), {
    maxKeys: 3,
  }),
  fc.constant(null),
  fc.double(),
);

describe('the schema of a key accepts what the program accepts', () => {
  const isAccepted = (kind: ValueKind, value: unknown) => {
    const report = vi.fn();
    readValue(kind, value, { where: '', folder: '/', report, expand: (text: string) => text });
    return report.mock.calls.length === 0;
  };
  test.each(KEYS.filter(({ path }) => !['servers', 'access'].includes(path)))('$path', ({ path, kind, ...key }) => {
    const own = fc.constantFrom(...(Array.isArray(kind.schema.enum) ? kind.schema.enum : []), key.default ?? null);
    fc.assert(
      fc.property(fc.oneof(anyValue, own), (value) => {
        // A null in the tree would remove its section.
        const isInSchema = isValid(toTree(new Map([[path, value ?? undefined]])));
        if (value !== null) expect(isInSchema).toBe((isInSchema && LOOSE.includes(kind)) || isAccepted(kind, value));
      }),
    );
  });
});

test.each([
  ...[{}, { servers: 'all', answers: true, operator: false }, { servers: { notes: ['a*'], other: null } }, null],
  ...[
    { servers: { notes: 'read_only' }, answers: ['answer_quick'] },
    { servers: null, answers: null },
  ],
  ...[[], 'all', { server: 'all' }, { servers: 'some' }, { servers: ['notes'] }, { servers: { notes: 'write' } }],
  ...[{ servers: { notes: [''] } }, { answers: 'all' }, { answers: ['anser'] }, { operator: 'yes' }],
])('the schema of an entry of access accepts what the program accepts: %j', (entry) => {
  const problems: string[] = [];
  const access = { alice: entry };
  readAccess({ access, http: { oauth: {} } } as unknown as ConfigTree, undefined, (...problem) =>
    problems.push(problem.join(' ')),
  );
  expect(isValid({ access }), problems.join('\n')).toBe(problems.length === 0);
});

describe('the schema of a server accepts what the program accepts', () => {
  const CANDIDATES: Readonly<Record<string, readonly unknown[]>> = {
    login: ['shared', 'per_caller', 'each'],
    max_connections: [0, 1, 1.5, '5'],
    name: ['callback', 'notes', ' notes ', 'openai-responses-mcp', 'a__b', '-a', 'a'.repeat(33)],
    args: [[], ['-y', 1, true], [null], 'text'],
    inherit_env: [true, false, ['A'], ['a-b']],
    tools: [{ allow: ['a*'], deny: [' * '] }, { allow: null }, { only: ['a'] }, { allow: ['a*b'] }, { allow: [' '] }],
    transport: ['auto', 'sse', 'stdio'],
    restart: ['never', 'always'],
    headers: [{ accept: 'text' }, { accept: null }, { Authorization: 'Bearer a' }, []],
    envs: [{ A: 1 }, { A: [] }, 'A=1'],
    env: [{ A: 'text' }, 'A=1'],
    auth: [
      ...[{}, { grant: 'authorization_code', client_id: 'a', scopes: ['b'], callback_port: 1024 }],
      ...[{ client_metadata_url: 'https://a.b/c', issuer: 'https://a.b', resource: 'none', client_id: null }],
      ...[[], 'none', { grant: 'password' }, { grants: [] }, { client_id: 1 }, { client_id: 'a', client_secret: 's' }],
      ...[{ client_metadata_url: 'http://a.b/c' }, { issuer: 'a.b' }, { scopes: 'a' }, { scopes: ['a b'] }],
      ...[{ resource: 'a.b' }, { callback_port: 1023 }, { callback_port: '3918' }],
    ],
  };
  const REMOTE_KEYS = ['url', 'transport', 'headers', 'allow_insecure', 'auth', 'login', 'max_connections'];
  const flags = [true, false, 'yes'];
  const numbers = [0, 1, 1023, 1024, 1.5, '60000'];
  const member = (key: string) =>
    fc.constantFrom(
      null,
      ...(CANDIDATES[key] ?? (/url|command|cwd/.test(key) ? ['https://a.b/mcp', ' '] : [...flags, ...numbers])),
    );
  const server = fc
    .subarray([...SERVER_KEYS, 'unknown'])
    .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, member(key)]))));
  const context = {
    environment: {},
    expanded: [],
    references: { form: 'dollar' as const },
    isYaml: true,
    folder: '/',
    defaultTimeoutMs: 1,
    ownSecrets: [],
    inheritEnv: [],
  } satisfies Parameters<typeof readServerEntry>[1];

  const agrees = (value: Readonly<Record<string, unknown>>) => {
    const problems: string[] = Object.keys(value).filter((key) => !SERVER_KEYS.includes(key));
    readServerEntry(value, context, (key, message) => problems.push(`${key} ${message}`));
    expect(isValid({ servers: [value] }), problems.join('\n')).toBe(problems.length === 0);
    return problems.length === 0;
  };

  test.each(SERVER_KEYS)('%s', (key) => {
    const isChild = !REMOTE_KEYS.includes(key);
    // Connections are limited where each caller has one.
    const remote = { url: 'https://a.b/mcp', ...(key === 'max_connections' && { login: 'per_caller' }) };
    const base = { name: 'notes', ...(isChild ? { command: 'node' } : remote) };
    const values = [null, ...(CANDIDATES[key] ?? ['https://a.b/mcp', ' ', ...flags, ...numbers])];
    const accepted = values.filter((value) => agrees({ ...base, [key]: value }));
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.length).toBeLessThan(values.length);
  });

  test.each(REMOTE_KEYS)('%s with each kind of login', (key) => {
    const notes = { name: 'notes', url: 'https://a.b/mcp' };
    for (const value of CANDIDATES[key] ?? ['https://a.b/mcp', ...flags])
      for (const login of ['shared', 'per_caller', null]) agrees({ ...notes, login, [key]: value });
  });

  test.each(['caller', 'callback'])('the name %s', (name) => {
    const url = 'https://a.b/mcp';
    expect(agrees({ name, url, login: 'per_caller' })).toBe(false);
    expect(agrees({ name, url })).toBe(true);
  });

  test('together', () => {
    fc.assert(fc.property(server, (value) => void agrees(value)));
  });
});
