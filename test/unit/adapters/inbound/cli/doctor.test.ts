import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { type DoctorOptions, doctor } from '../../../../../src/adapters/inbound/cli/doctor.ts';
import type { Application } from '../../../../../src/application/answers/application.ts';
import type { Check } from '../../../../../src/application/answers/diagnose-setup.ts';
import { approve } from '../../../../../src/domain/gateway/approved-tools.ts';
import type { GroundingPolicy } from '../../../../../src/domain/grounded/grounding.ts';
import { never } from '../../../../support/core.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { FakeServerLogin } from '../../../../support/fake-server-login.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';
import { redactorOf } from '../../../../support/redactor.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import { echoes, ScriptedToolServer, says } from '../../../../support/scripted-tool-server.ts';

const KEY = 'sk-proj-UnitKey0123456789';

const WELL: readonly Check[] = [
  { name: 'connection', verdict: 'ok', detail: 'api.test answered (HTTP 401)' },
  { name: 'model gpt-5.2', verdict: 'ok', detail: 'for answer' },
  { name: 'web search', verdict: 'ok', detail: 'answered with 2 sources in 1.0 s' },
];

/** An application with these checks; records the problems with the key that were reported to it. */
function finds(checks: readonly Check[], onEach: () => void = () => {}) {
  const keyProblems: (string | undefined)[] = [];
  const application: Application = {
    answerQuery: () => Promise.reject(new Error('doctor asked a question by itself')),
    async *diagnoseSetup(keyProblem) {
      keyProblems.push(keyProblem);
      for (const check of checks) {
        yield check;
        onEach();
      }
    },
  };
  return { application, keyProblems };
}

async function run(over: Partial<DoctorOptions> = {}, signal: AbortSignal = never()) {
  const out: string[] = [];
  const exitCode = await doctor(
    {
      application: finds(WELL).application,
      redactor: redactorOf(KEY),
      configSources: 'defaults, OPENAI_API_KEY',
      apiKey: { variable: 'OPENAI_API_KEY', value: 'sk-proj-0123456789' },
      isOffline: false,
      gateway: undefined,
      grounding: undefined,
      profiles: { answer: { model: 'gpt-5.2' }, answer_quick: { reasoningEffort: 'low' } },
      toolErrors: 'result',
      clock: new FakeClock(),
      logger: new RecordingLogger(),
      err: { write: () => {} },
      json: false,
      out: (text) => out.push(text),
      ...over,
    },
    signal,
  );
  return { exitCode, out: out.join(''), lines: out.join('').split('\n').slice(0, -1), writes: out.length };
}

test('if everything works: one line per check, and exit code 0', async () => {
  expect(await run()).toMatchObject({
    exitCode: 0,
    lines: [
      `ok    node: ${process.versions.node}`,
      'ok    configuration: valid (defaults, OPENAI_API_KEY)',
      'ok    key: found in OPENAI_API_KEY',
      'ok    connection: api.test answered (HTTP 401)',
      'ok    model gpt-5.2: for answer',
      'ok    web search: answered with 2 sources in 1.0 s',
    ],
  });
});

test('warns of what is not as configured', async () => {
  const notices = [
    { where: 'mcpServers.bad', message: 'expected a server; this server is left out', file: 'mcp.json' },
  ];
  const { exitCode, lines } = await run({ notices });
  expect(exitCode).toBe(0);
  expect(lines[2]).toBe(
    'WARN  configuration: mcpServers.bad: expected a server; this server is left out (in mcp.json)',
  );
});

test('warns if others can read the key', async () => {
  const apiKey = { variable: 'OPENAI_API_KEY_FILE', value: 'sk-proj-0123456789', isShared: true };
  const { exitCode, lines } = await run({ apiKey, isUnencrypted: true });
  expect(exitCode).toBe(0);
  expect(lines.slice(2, 5)).toEqual([
    'ok    key: found in OPENAI_API_KEY_FILE',
    'WARN  key file: other users of this machine can read the file that OPENAI_API_KEY_FILE names: chmod 600 it',
    'WARN  base_url: http:// sends the key and the questions unencrypted; use https:// unless the network is private',
  ]);
});

test('names the logins, and warns of those that end, or that others can read', async () => {
  const login = {
    url: 'https://notes.example.com/mcp',
    issuer: 'https://auth.example.com',
    scopes: ['read'],
    expiresAt: new Date('2026-01-05T04:00:00Z'),
    renewable: true,
    isShared: false,
  };
  const readLogins = async () => [
    { ...login, server: 'notes' },
    { ...login, server: 'issues', renewable: false },
    { ...login, server: 'files', isShared: true },
    { server: 'robot', clientId: 'nightly' },
    { server: 'bot', clientId: 'daily', login: { ...login, server: 'bot' } },
  ];
  const { exitCode, lines } = await run({ readLogins });
  expect(exitCode).toBe(0);
  const words = 'https://auth.example.com, scopes read, until 2026-01-05T04:00:00.000Z';
  expect(lines.filter((line) => line.includes('login'))).toEqual([
    `ok    login notes: ${words}, then renewed`,
    `WARN  login issues: ${words}; it cannot be renewed, so sign in again when it ends: openai-responses-mcp login issues`,
    `WARN  login files: ${words}, then renewed; other users of this machine have access to it: chmod 700 the folder gateway.logins, and chmod 600 its files`,
    'WARN  login robot: as the client nightly, without a person (client_credentials); no token',
    `ok    login bot: as the client daily, without a person (client_credentials): ${words}, then renewed`,
  ]);
});

test('each line is written as soon as its check ends', async () => {
  expect((await run()).writes).toBe(6);
});

test('without a key: names the variable to set, tries the rest without it, exit code 1', async () => {
  const { application, keyProblems } = finds([
    { name: 'connection', verdict: 'ok', detail: 'api.test answered (HTTP 401)' },
    { name: 'models', verdict: 'skipped', detail: 'there is no key' },
  ]);
  const { lines, exitCode } = await run({ application, apiKey: { variable: 'GATEWAY_KEY' } });
  expect(exitCode).toBe(1);
  expect(keyProblems).toEqual(['the key is missing']);
  expect(lines.slice(2)).toEqual([
    expect.stringMatching(/^FAIL {2}key: .*GATEWAY_KEY is not set\. Set it /),
    'ok    connection: api.test answered (HTTP 401)',
    'skip  models: there is no key',
  ]);
});

test.each(['sk-...', `\${OPENAI_API_KEY}`, `\${input:openai-key}`, `\${user_config.api_key}`])(
  'a client that did not replace %s: says so instead of ok, exit code 1',
  async (value) => {
    const { application, keyProblems } = finds([]);
    const { lines, exitCode } = await run({ application, apiKey: { variable: 'OPENAI_API_KEY', value } });
    expect(exitCode).toBe(1);
    expect(keyProblems).toEqual(['the key is a placeholder']);
    expect(lines[2]).toMatch(
      /^FAIL {2}key: The key in OPENAI_API_KEY is a placeholder, which the MCP client .* did not/,
    );
  },
);
describe('the quota', () => {
  const limits = { calls: 500, tokens: 2_000_000 };
  const quota = {
    limits,
    callers: { alice: { calls: 50 }, bob: {} },
    store: 'redis://:[redacted]@store:6379',
    onStoreFailure: 'refuse' as const,
    probe: async (): Promise<string | undefined> => undefined,
  };
  const lineOf = async (over: Partial<DoctorOptions['quota']> = {}) => {
    const { lines, exitCode } = await run({ quota: { ...quota, ...over } });
    return { line: lines[2], exitCode };
  };
  const LIMITS = 'calls_per_day 500, tokens_per_day 2000000; alice: calls_per_day 50; bob: no limit';

  test('is shown, with its store', async () => {
    const line = `ok    quota: ${LIMITS}; counted in redis://:[redacted]@store:6379`;
    expect(await lineOf()).toEqual({ line, exitCode: 0 });
  });

  test('in memory is counted by each process', async () => {
    const probe = () => Promise.reject(new Error('there is nothing to probe'));
    const line = `ok    quota: ${LIMITS}; each process counts in its own memory`;
    expect(await lineOf({ store: 'memory', probe })).toEqual({ line, exitCode: 0 });
  });

  test.each([
    ['refuse', 'FAIL', 'refused', 1],
    ['allow', 'WARN', 'allowed without a quota', 0],
  ] as const)('with %s, a store that cannot be used is %s', async (onStoreFailure, mark, consequence, exitCode) => {
    const line = `${mark}  quota: the store redis://:[redacted]@store:6379 cannot be used (ECONNREFUSED): calls are ${consequence} (http.quota.on_store_failure)`;
    expect(await lineOf({ onStoreFailure, probe: async () => 'ECONNREFUSED' })).toEqual({ line, exitCode });
  });
});

const FAILED: readonly (readonly [Check, RegExp])[] = [
  [
    {
      name: 'connection',
      verdict: 'failed',
      detail: 'connection_failed',
      error: { kind: 'connection_failed', attempts: 1, host: 'nope.invalid', detail: 'ENOTFOUND' },
    },
    /^FAIL {2}connection: .*nope\.invalid.*ENOTFOUND.*Check the network, the proxy variables and the base URL/,
  ],
  [
    {
      name: 'model gpt-9',
      verdict: 'failed',
      detail: 'model_not_found',
      error: { kind: 'model_not_found', model: 'gpt-9', detail: 'No such model.' },
    },
    /^FAIL {2}model gpt-9: The model gpt-9 does not exist.*Change the model of the profile/,
  ],
  [
    {
      name: 'model gpt-5.2',
      verdict: 'failed',
      detail: 'rejected_api_key',
      error: { kind: 'rejected_api_key', variable: 'OPENAI_API_KEY' },
    },
    /^FAIL {2}model gpt-5\.2: The API rejected the key in OPENAI_API_KEY \(401\)/,
  ],
];

test.each(FAILED)('%j states what happened and what to do, exit code 1', async (check, words) => {
  const { lines, exitCode } = await run({ application: finds([check]).application });
  expect(exitCode).toBe(1);
  expect(lines.at(-1)).toMatch(words);
});

test('a server that does not respond: the advice fits', async () => {
  const detail = 'No answer within 15 s';
  const error = { kind: 'connection_failed', attempts: 1, host: 'api.test', detail } as const;
  const check: Check = { name: 'connection', verdict: 'failed', detail: 'connection_failed', error };
  const line = (await run({ application: finds([check]).application })).lines.at(-1) ?? '';
  expect(line).toMatch(/^FAIL {2}connection: .*No answer within 15 s/);
  expect(line).toMatch(/network|proxy|base URL/);
  expect(line).not.toMatch(/Ask something narrower|request\.timeout_ms/);
});

test('a warning is not a failure', async () => {
  const check: Check = { name: 'web search', verdict: 'warning', detail: 'answered, but without a search' };
  expect(await run({ application: finds([check]).application })).toMatchObject({
    exitCode: 0,
    lines: expect.arrayContaining(['WARN  web search: answered, but without a search']),
  });
});

test('offline: needs neither key nor network', async () => {
  const { application, keyProblems } = finds([]);
  const apiKey = { variable: 'OPENAI_API_KEY' };
  const { exitCode, lines } = await run({ application, apiKey, isOffline: true });
  expect(exitCode).toBe(0);
  expect(keyProblems).toEqual([]);
  expect(lines.map((line) => line.split(':')[0])).toEqual(['ok    node', 'ok    configuration', 'ok    adapter']);
});

describe('as JSON', () => {
  test('is one document, written at the end', async () => {
    const { exitCode, out, writes } = await run({ json: true });
    expect({ exitCode, writes }).toEqual({ exitCode: 0, writes: 1 });
    expect(JSON.parse(out)).toEqual({
      ok: true,
      checks: [
        { name: 'node', verdict: 'ok', detail: process.versions.node },
        { name: 'configuration', verdict: 'ok', detail: 'valid (defaults, OPENAI_API_KEY)' },
        { name: 'key', verdict: 'ok', detail: 'found in OPENAI_API_KEY' },
        ...WELL,
      ],
    });
  });

  test('states what to do about a failure', async () => {
    const [check] = FAILED[0] ?? [];
    if (check === undefined) throw new Error('no failure');
    const { exitCode, out } = await run({ json: true, application: finds([check]).application });
    expect(exitCode).toBe(1);
    const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Record<string, string>[] };
    expect(ok).toBe(false);
    expect(checks.at(-1)).toEqual({
      name: 'connection',
      verdict: 'failed',
      detail: 'connection_failed',
      todo: expect.stringContaining('Check the network'),
    });
  });
});

describe('Ctrl-C', () => {
  test('ends it with exit code 130 and no further output', async () => {
    const controller = new AbortController();
    const { application } = finds(WELL, () => controller.abort());
    const { exitCode, lines } = await run({ application }, controller.signal);
    expect(exitCode).toBe(130);
    expect(lines.at(-1)).toBe('ok    connection: api.test answered (HTTP 401)');
  });

  test('leaves no incomplete JSON document', async () => {
    const controller = new AbortController();
    const { application } = finds(WELL, () => controller.abort());
    expect(await run({ application, json: true }, controller.signal)).toMatchObject({ exitCode: 130, out: '' });
  });
});

test.each([false, true])('the key is never shown, whatever contains it (json: %j)', async (json) => {
  const error = { kind: 'bad_request', detail: `Bearer ${KEY} and sk-other-key-0123456789` } as const;
  const checks: Check[] = [
    { name: 'connection', verdict: 'ok', detail: `${KEY} answered` },
    { name: 'web search', verdict: 'failed', detail: 'bad_request', error },
  ];
  const { out } = await run({ json, application: finds(checks).application });
  expect(out).not.toContain(KEY);
  expect(out).not.toContain('sk-other');
});

test('counts approved tools, and names what is not offered and what is mistyped', async () => {
  const notes = () => new ScriptedToolServer({ read: echoes });
  const gateway = startScripted(
    { notes: notes() },
    { approved: { servers: {} }, definitions: { notes: { filter: { rename: { raed: 'x' } } } } },
  );
  const { lines, exitCode } = await run({ gateway, approved: { servers: {} } });
  expect(exitCode).toBe(0);
  expect(lines).toContain('WARN  lock: 0 approved tools; new or changed, and not offered: notes/read (tools --diff)');
  expect(lines).toContain('WARN  server notes: there is no tool raed (tools.rename)');
  const approved = approve(gateway.listed);
  const { lines: after } = await run({ gateway: startScripted({ notes: notes() }, { approved }), approved });
  expect(after).toContain('ok    lock: 1 approved tool');
});

describe('grounded answers', () => {
  const readOnly = { readOnlyHint: true };
  const toolNamed = (name: string, annotations = {}) => {
    return { server: 'notes', name, description: '', inputSchema: {}, annotations };
  };

  async function groundingLines(tools: GroundingPolicy['tools'], web: GroundingPolicy['web'] = 'before') {
    const notes = {
      name: 'notes',
      transport: 'stdio',
      state: 'available',
      since: new Date(0),
      restarts: 0,
      tools: 2,
    } as const;
    const gateway = {
      servers: [notes],
      tools: [toolNamed('search', readOnly), toolNamed('delete'), toolNamed('odd\u009B31m\u202E\u200Dname')],
      changed: [],
      listed: [],
      whenStarted: async () => {},
    };
    const policy = { tools, web, maxRounds: 6, maxCalls: 20, maxOutputChars: 1000, callers: [] };
    const { lines, exitCode } = await run({ gateway, grounding: policy });
    return { lines: lines.filter((line) => line.includes('grounding')), exitCode };
  }

  test('shows what is offered, and when the web is searched', async () => {
    expect(await groundingLines({ notes: 'all' })).toEqual({
      lines: [
        'ok    grounding: offers 1 tool to the model: notes/search',
        'ok    grounding.web: before: the model may search the web until a private tool has answered',
      ],
      exitCode: 0,
    });
    expect((await groundingLines({ notes: ['search', 'delete'] })).lines[0]).toBe(
      'ok    grounding: offers 2 tools to the model: notes/delete, notes/search',
    );
  });

  test('shows a name of a tool without what controls the terminal or hides text', async () => {
    expect((await groundingLines({ notes: ['odd\u009B31m\u202E\u200Dname'] })).lines[0]).toBe(
      'ok    grounding: offers 1 tool to the model: notes/oddname',
    );
  });

  test('warns of a listed tool that does not exist', async () => {
    expect((await groundingLines({ notes: ['search', 'serach'] })).lines[0]).toBe(
      'WARN  grounding: offers 1 tool to the model: notes/search; there is no tool notes/serach (grounding.tools)',
    );
  });

  test('warns of a web that is always open', async () => {
    expect((await groundingLines({ notes: 'all' }, 'always')).lines[1]).toMatch(
      /^WARN {2}grounding\.web: always: .* leave/,
    );
  });
});

describe('servers', () => {
  const one = () => new ScriptedToolServer({ read: echoes });
  const two = () => new ScriptedToolServer({ read: echoes, write: echoes });
  const broken = () => new ScriptedToolServer({}, 'cannot start x\u001B[31m (ENOENT), key sk-proj-Ab12cd34');

  test('have one line each, after the configuration', async () => {
    const { exitCode, lines } = await run({ gateway: startScripted({ one: one(), two: two() }) });
    expect(exitCode).toBe(0);
    expect(lines.slice(1, 5)).toEqual([
      'ok    configuration: valid (defaults, OPENAI_API_KEY)',
      'ok    server one: 1 tool (stdio)',
      'ok    server two: 2 tools (stdio)',
      'ok    key: found in OPENAI_API_KEY',
    ]);
  });

  test('that cannot start are failures, and everything else is still checked', async () => {
    const gateway = startScripted({ broken: broken() }, { definitions: { broken: { restart: 'never' } } });
    const { exitCode, lines } = await run({ gateway });
    expect(exitCode).toBe(1);
    expect(lines[2]).toBe('FAIL  server broken: failed: cannot start x (ENOENT), key [redacted]');
    expect(lines.at(-1)).toMatch(/^ok {4}web search/);
  });

  test('that require a login are failures, with the command', async () => {
    const notes = one();
    notes.login = new FakeServerLogin('notes');
    const { exitCode, lines } = await run({ gateway: startScripted({ notes, two: two() }) });
    expect(exitCode).toBe(1);
    expect(lines.slice(2, 4)).toEqual([
      'FAIL  server notes: login_required: requires a login; sign in with: openai-responses-mcp login notes',
      'ok    server two: 2 tools (stdio)',
    ]);
  });

  test('are checked without a key and offline, too', async () => {
    const { lines } = await run({ gateway: startScripted({ one: one() }), isOffline: true });
    expect(lines[2]).toBe('ok    server one: 1 tool (stdio)');
  });

  test('are in the JSON', async () => {
    const { out } = await run({ gateway: startScripted({ one: one() }), json: true });
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      checks: [{}, {}, { name: 'server one', verdict: 'ok', detail: '1 tool (stdio)' }, {}, {}, {}, {}],
    });
  });
});

describe('what works, but is probably not wanted (A23)', () => {
  const nameOf = (line: string) => /^(?:ok|note|WARN|FAIL|skip) +([^:]+):/.exec(line)?.[1];
  const warnings = async (over: Partial<DoctorOptions>) => {
    const { lines, exitCode } = await run(over);
    expect(exitCode).toBe(0);
    return lines.filter((line) => line.startsWith('note')).map(nameOf);
  };

  test.each([
    ['only answer', { answer: { model: 'a', verbosity: 'low' } }, ['profiles']],
    ['the same values', { answer: { model: 'a' }, answer_quick: { model: 'a' }, answer_detailed: {} }, ['profiles']],
    ['a quicker tool', { answer: { model: 'a' }, answer_quick: { verbosity: 'low' } }, []],
    ['another model', { answer: { model: 'a' }, answer_detailed: { model: 'b' } }, []],
  ] as const)('profiles with %s', async (_name, profiles, expected) => {
    expect(await warnings({ profiles })).toEqual(expected);
  });

  test('the warning about profiles names the preset', async () => {
    const { out } = await run({ profiles: { answer: { model: 'a' } } });
    expect(out).toMatch(/note {2}profiles: all tools use the same settings; MODEL_PROFILES=tuned /);
  });

  test('tool_errors: protocol', async () => {
    expect(await warnings({ toolErrors: 'protocol' })).toEqual(['tool_errors']);
    expect((await run({ toolErrors: 'protocol' })).out).toMatch(/note {2}tool_errors: .*MCP_TOOL_ERRORS=result/);
  });
});

describe('progress (A23)', () => {
  async function written(isTTY: boolean, json = false) {
    const err: string[] = [];
    const { out } = await run({ json, err: { isTTY, write: (text: string) => void err.push(text) } });
    return { err: err.join(''), out };
  }

  test('is shown on a terminal while a check runs, and is gone afterwards', async () => {
    const { err, out } = await written(true);
    expect(err).toContain('Checking');
    expect(err.endsWith('\r\u001B[2K')).toBe(true);
    expect(out).not.toContain('Checking');
  });

  test('is shown neither on a pipe nor with --json', async () => {
    expect((await written(false)).err).toBe('');
    expect((await written(true, true)).err).toBe('');
  });
});

describe('the authorization server', () => {
  const oauth = { issuer: 'https://auth.example', audience: 'https://mcp.example/mcp' };

  test('is shown with the number of its keys', async () => {
    const { lines } = await run({ oauth: { ...oauth, countKeys: async () => ok(2) } });
    expect(lines[2]).toBe(
      'ok    oauth: https://auth.example publishes 2 keys; tokens must be for https://mcp.example/mcp',
    );
  });

  test.each([
    [{ ...oauth, countKeys: async () => ok(0) }, /^FAIL {2}oauth: https:\/\/auth\.example publishes 0 keys/],
    [
      { ...oauth, countKeys: async () => err('https://auth.example/jwks: ECONNREFUSED') },
      /^FAIL {2}oauth: the keys of https:\/\/auth\.example cannot be read, so access tokens are refused \(https:\/\/auth\.example\/jwks: ECONNREFUSED\)\. Check /,
    ],
    [[{ where: 'http.oauth.issuer', message: 'required' }], /^FAIL {2}oauth: http\.oauth\.issuer: required$/],
  ])('is a failure if no token can be verified (%#)', async (oauth, line) => {
    const { lines, exitCode } = await run({ oauth });
    expect(lines[2]).toMatch(line);
    expect(exitCode).toBe(1);
  });
});

test('a refused lookup of a model says that answers do not need it', async () => {
  const detail = 'Missing scopes: api.model.read';
  const error = { kind: 'missing_permission', variable: 'OPENAI_API_KEY', detail } as const;
  const { application } = finds([{ name: 'model gpt-5.2', verdict: 'warning', detail: 'x', error }]);
  expect((await run({ application })).out).toMatch(
    /WARN {2}model gpt-5\.2: .* Answers do not need this permission\.\n/,
  );
});

test('a check that takes long is named on a terminal, and is no line of the output', async () => {
  const search: Check = { name: 'web search', verdict: 'running', detail: 'Searching the web' };
  const { application } = finds([search, ...WELL.slice(2)]);
  const written: string[] = [];
  const err = { isTTY: true, write: (text: string) => written.push(text) };
  const { out } = await run({ application, err });
  expect(out).not.toContain('Searching');
  expect(written.join('')).toContain('0 s  Searching the web');
  expect(JSON.parse((await run({ application, json: true })).out).checks.at(-1)).toMatchObject({ verdict: 'ok' });
});

describe('access', () => {
  test('has the numbers of callers and groups, and what gives nothing', async () => {
    const access = { alice: { servers: { files: ['read', 'rea'] } }, bob: {}, 'group:dev': { answers: true } };
    const gateway = startScripted({ files: new ScriptedToolServer({ read: says('Read.') }) });
    const { lines } = await run({ access, gateway });
    const warning = 'access: no tool of files has the name rea (access.alice.servers.files)';
    expect(lines).toContain(`WARN  access: entries for 2 callers and 1 group; ${warning}`);
    expect((await run({ access: {} })).lines).toContain('ok    access: entries for 0 callers and 0 groups');
  });
});
