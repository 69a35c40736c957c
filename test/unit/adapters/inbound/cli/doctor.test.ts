import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import {
  type DoctorCheck,
  type DoctorOptions,
  doctor,
  type Servers,
} from '../../../../../src/adapters/inbound/cli/doctor.ts';
import {
  checkApi,
  checkConfiguration,
  checkGrounding,
  checkLogins,
  checkServers,
  checkSettings,
  NODE,
  RECORDINGS,
} from '../../../../../src/adapters/inbound/cli/doctor-checks.ts';
import { checkAccess, checkLock, checkOAuth, checkQuota } from '../../../../../src/adapters/inbound/cli/team-checks.ts';
import type { Application } from '../../../../../src/application/answers/application.ts';
import type { Check } from '../../../../../src/application/answers/diagnose-setup.ts';
import { approve } from '../../../../../src/domain/gateway/approved-tools.ts';
import type { GroundingPolicy } from '../../../../../src/domain/grounded/grounding.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { FakeServerLogin } from '../../../../support/fake-server-login.ts';
import { redactorOf } from '../../../../support/redactor.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import { echoes, ScriptedToolServer } from '../../../../support/scripted-tool-server.ts';

const KEY = 'sk-proj-UnitKey0123456789';

const WELL: readonly Check[] = [
  { name: 'connection', verdict: 'ok', detail: 'api.test answered (HTTP 401)' },
  { name: 'web search', verdict: 'ok', detail: 'answered with 2 sources in 1.0 s' },
];

/** An application with these checks; records the problems with the key that were reported to it. */
function finds(checks: readonly Check[], onEach: () => void = () => {}) {
  const keyProblems: (string | undefined)[] = [];
  const application: Application = {
    answerQuery: { execute: () => Promise.reject(new Error('doctor asked a question by itself')) },
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

const CONFIGURATION = checkConfiguration('defaults, OPENAI_API_KEY', []);
const FOUND_KEY = { variable: 'OPENAI_API_KEY', value: 'sk-proj-0123456789' };
const NO_KEY = { variable: 'OPENAI_API_KEY' };

/** The check of the way to the API, with this key, and where the API finds this. */
function api(found = finds(WELL).application, more: Partial<Parameters<typeof checkApi>[0]> = {}): DoctorCheck {
  return checkApi({ application: found, key: FOUND_KEY, isUnencrypted: false, hasServers: false, ...more });
}

interface Run extends Partial<DoctorOptions> {
  readonly signal?: AbortSignal;
}

async function run(checks: readonly (DoctorCheck | undefined)[], { signal = never(), ...over }: Run = {}) {
  const out: string[] = [];
  const redact = redactorOf(KEY).inLogs;
  const exitCode = await doctor(checks, { json: false, redact, out: (text) => out.push(text), ...over }, signal);
  const lines = out.join('').split('\n').slice(0, -1);
  const sum = over.json || exitCode === 130 ? undefined : lines.pop();
  return { exitCode, out: out.join(''), lines, sum, writes: out.length };
}

test('writes one line per check as soon as it ends, and the exit code is 0', async () => {
  expect(await run([NODE, undefined, CONFIGURATION, api()])).toMatchObject({
    exitCode: 0,
    writes: 6,
    lines: [
      `ok    node: ${process.versions.node}`,
      'ok    configuration: valid (defaults, OPENAI_API_KEY)',
      'ok    key: found in OPENAI_API_KEY',
      'ok    connection: api.test answered (HTTP 401)',
      'ok    web search: answered with 2 sources in 1.0 s',
    ],
  });
});

const login = {
  url: 'https://notes.example.com/mcp',
  issuer: 'https://auth.example.com',
  scopes: ['read'],
  expiresAt: new Date('2026-01-05T04:00:00Z'),
  renewable: true,
  isShared: false,
};
const LOGIN = 'https://auth.example.com, scopes read, until 2026-01-05T04:00:00.000Z';
const oauth = { issuer: 'https://auth.example', audience: 'https://mcp.example/mcp' };
const quota = {
  limits: { calls: 500, tokens: 2_000_000 },
  callers: { alice: { calls: 50 }, bob: {} },
  store: 'redis://:[redacted]@store:6379',
  onStoreFailure: 'refuse' as const,
  probe: async (): Promise<string | undefined> => undefined,
};
const LIMITS = 'calls_per_day 500, tokens_per_day 2000000; alice: calls_per_day 50; bob: no limit';
const broken = { ...quota, probe: async () => 'ECONNREFUSED' };
const STORE = 'the store redis://:[redacted]@store:6379 cannot be used (ECONNREFUSED): calls are';
const settings = {
  isOpenToMachine: false,
} as const;
const policy: GroundingPolicy = {
  tools: { notes: 'all' },
  web: 'before',
  maxRounds: 6,
  maxCalls: 20,
  maxOutputChars: 1000,
  callers: [],
};
const ODD = 'odd\u009B31m\u202E\u{E0041}name';
const grounded: Servers = {
  servers: [{ name: 'notes', transport: 'stdio', state: 'available', since: new Date(0), restarts: 0, tools: 3 }],
  tools: ['search', 'delete', ODD].map((name) => ({ server: 'notes', name, description: '', inputSchema: {} })),
  changed: [],
  listed: [],
  whenStarted: async () => {},
};

test.each<[string, DoctorCheck, ...string[]]>([
  [
    'a notice about the configuration',
    checkConfiguration('defaults', [{ where: 'mcpServers.bad', message: 'expected a server', file: 'mcp.json' }]),
    'WARN  configuration: mcpServers.bad: expected a server (in mcp.json)',
  ],
  [
    'a key that others can read',
    api(undefined, {
      key: { variable: 'OPENAI_API_KEY_FILE', value: 'sk-proj-0123456789', isShared: true },
      isUnencrypted: true,
    }),
    'ok    key: found in OPENAI_API_KEY_FILE',
    'WARN  key file: other users of this machine can read the file that OPENAI_API_KEY_FILE names: run chmod 600 on it',
    'WARN  base_url: http:// sends the key and the questions unencrypted; use https:// unless the network is private',
  ],
  [
    'logins',
    checkLogins(async () => [
      { ...login, server: 'notes' },
      { ...login, server: 'issues', renewable: false },
      { ...login, server: 'files', isShared: true },
      { ...login, server: 'tickets', owner: { kind: 'token', name: 'alice' }, renewable: false },
      { ...login, server: 'tickets', owner: { kind: 'token', name: 'bob' }, isOfNobody: true },
      {
        ...login,
        server: 'tickets',
        owner: { kind: 'subject', issuer: 'https://old.example', sub: 'auth0|5f' },
        isOfNobody: true,
      },
      { server: 'tickets', without: ['carol', 'dan'], signInUrl: 'https://gateway.example/login/tickets' },
      { server: 'robot', grant: 'client_credentials', clientId: 'nightly' },
      { server: 'bot', grant: 'client_credentials', clientId: 'daily', login: { ...login, server: 'bot' } },
    ]),
    `ok    login notes: ${LOGIN}, then renewed`,
    `WARN  login issues: ${LOGIN}; it cannot be renewed, so sign in again when it ends: openai-responses-mcp login issues`,
    `WARN  login files: ${LOGIN}, then renewed; other users of this machine have access to it: run chmod 700 on the folder gateway.logins, and chmod 600 on its files`,
    `ok    login tickets as alice: ${LOGIN}`,
    `WARN  login tickets as bob: ${LOGIN}, then renewed; this caller does not exist; end it with: openai-responses-mcp logout tickets --caller bob`,
    // Without the quotes, a shell would run a part of such a name.
    `WARN  login tickets as oauth:auth0|5f: ${LOGIN}, then renewed; this caller does not exist; end it with: openai-responses-mcp logout tickets --caller 'oauth:auth0|5f'`,
    'note  login tickets: carol, dan have none; callers sign in at https://gateway.example/login/tickets',
    'WARN  login robot: as the client nightly, without a person (client_credentials); no token',
    `ok    login bot: as the client daily, without a person (client_credentials): ${LOGIN}, then renewed`,
  ],
  ['a quota', checkQuota(quota), `ok    quota: ${LIMITS}; counted in redis://:[redacted]@store:6379`],
  [
    'a quota in memory',
    checkQuota({ ...broken, store: 'memory' }),
    `ok    quota: ${LIMITS}; each process counts in its own memory`,
  ],
  [
    'a store that cannot be used, if calls are allowed without it',
    checkQuota({ ...broken, onStoreFailure: 'allow' }),
    `WARN  quota: ${STORE} allowed without a quota (http.quota.on_store_failure)`,
  ],
  [
    'an authorization server',
    checkOAuth({ ...oauth, countKeys: async () => ok(2) }),
    'ok    oauth: https://auth.example publishes 2 keys; tokens must be for https://mcp.example/mcp',
  ],
  ['access without entries', checkAccess({}, undefined), 'ok    access: entries for 0 callers and 0 groups'],
  [
    'grounding, with names that control a terminal',
    checkGrounding({ ...policy, tools: { notes: ['search', ODD] } }, grounded),
    'ok    grounding: offers 2 tools to the model: notes/oddname, notes/search',
    'ok    grounding.web: before: the model may search the web until a private tool has answered',
  ],
  [
    'grounding with a mistyped tool, and an open web',
    checkGrounding({ ...policy, web: 'always', tools: { notes: ['search', 'serach'] } }, grounded),
    'WARN  grounding: offers 1 tool to the model: notes/search; there is no tool notes/serach (grounding.tools)',
    'WARN  grounding.web: always: what a private tool returned can leave this machine in a web search or in the address of a page',
  ],
  [
    'a refused lookup of a model',
    api(
      finds([{ name: 'model a', verdict: 'warning', detail: 'x', error: { kind: 'forbidden', detail: 'No.' } }])
        .application,
    ),
    "WARN  model a: The API denied access (403): No. Check the permissions of the key's project, and whether your country and model are supported. Answers do not need this permission.",
  ],
])('%s is no failure', async (_, check, ...expected) => {
  const { exitCode, lines } = await run([check]);
  expect(exitCode).toBe(0);
  expect(lines).toEqual(expect.arrayContaining(expected));
});

test.each<[string, DoctorCheck, RegExp]>([
  ['no key', api(undefined, { key: { variable: 'GATEWAY_KEY' } }), /^FAIL {2}key: .*GATEWAY_KEY is not set\. Set it /],
  ['a store that cannot be used', checkQuota(broken), /^FAIL {2}quota: .* refused \(http\.quota\.on_store_failure\)$/],
  [
    'an issuer without keys',
    checkOAuth({ ...oauth, countKeys: async () => ok(0) }),
    /^FAIL {2}oauth: https:\/\/auth\.example publishes 0 keys/,
  ],
  [
    'an issuer whose keys cannot be read',
    checkOAuth({ ...oauth, countKeys: async () => err('ECONNREFUSED') }),
    /^FAIL {2}oauth: the keys of https:\/\/auth\.example cannot be read, .* \(ECONNREFUSED\)\. Check /,
  ],
  [
    'an invalid section http.oauth',
    checkOAuth([{ where: 'http.oauth.issuer', message: 'required' }]),
    /^FAIL {2}oauth: http\.oauth\.issuer: required$/,
  ],
])('%s is a failure with advice, and everything else is checked', async (_, check, line) => {
  const { exitCode, lines } = await run([check, CONFIGURATION]);
  expect(exitCode).toBe(1);
  expect(lines).toContainEqual(expect.stringMatching(line));
  expect(lines.at(-1)).toBe('ok    configuration: valid (defaults, OPENAI_API_KEY)');
});

test('own tools that no caller over HTTP gets are noted', async () => {
  const note =
    /^note {2}grounding\.callers: over HTTP, no caller gets the tools .* set grounding\.callers, such as \[local\]$/;
  const lines = async (callers: readonly string[]) =>
    (await run([checkGrounding({ ...policy, callers }, grounded)])).lines;
  expect(await lines([])).toContainEqual(expect.stringMatching(note));
  expect(await lines(['alice'])).not.toContainEqual(expect.stringMatching(note));
});

test('the last line is the sum, and marks have colours where they are shown', async () => {
  const failed: DoctorCheck = {
    name: 'x',
    run: () => [
      { verdict: 'failed', detail: 'y' },
      { verdict: 'note', detail: 'z' },
    ],
  };
  expect((await run([NODE, CONFIGURATION, failed])).sum).toBe('2 ok, 1 note, 1 failed');
  expect((await run([failed], { hasStyles: true })).lines[0]).toBe('\u001B[31mFAIL\u001B[39m  x: y');
});

test('settings that most people want have no line', async () => {
  expect((await run([checkSettings(settings)])).lines).toEqual([]);
});

test('a problem with the key is passed on; offline, nothing needs a key', async () => {
  const { application, keyProblems } = finds(WELL);
  await run([api(application, { key: NO_KEY })]);
  expect(keyProblems).toEqual(['the key is missing']);
  expect(await run([RECORDINGS])).toMatchObject({
    exitCode: 0,
    lines: ['ok    adapter: offline: answers come from recordings, so no key and no network are needed'],
  });
});

const server = () => new ScriptedToolServer({ read: echoes });

test('servers have one line each, in which nothing controls the terminal; without a key, they are enough', async () => {
  const needsLogin = server();
  needsLogin.login = new FakeServerLogin('notes');
  const failing = new ScriptedToolServer({}, 'cannot start x\u001B[31m (ENOENT), key sk-proj-Ab12cd34');
  const definitions = { failing: { restart: 'never' as const } };
  const servers = { one: server(), notes: needsLogin, failing };
  const { exitCode, lines } = await run([checkServers(startScripted(servers, { definitions })), api()]);
  expect(exitCode).toBe(1);
  expect(lines.slice(0, 4)).toEqual([
    'ok    server one: 1 tool (stdio)',
    'FAIL  server notes: login_required: requires a login; sign in with: openai-responses-mcp login notes',
    'FAIL  server failing: failed: cannot start x (ENOENT), key [redacted]',
    'ok    key: found in OPENAI_API_KEY',
  ]);
  const withoutKey = await run([api(undefined, { key: NO_KEY, hasServers: true })]);
  expect(withoutKey.exitCode).toBe(0);
  expect(withoutKey.lines).toEqual([
    'note  key: OPENAI_API_KEY is not set, so the answer tools are not offered; the tools of servers need no key',
  ]);
});

test('names what the lock withholds, and what is mistyped about tools', async () => {
  const approved = { servers: {} };
  const definitions = { files: { filter: { rename: { raed: 'x' } } } };
  const access = { alice: { servers: { files: ['read', 'rea'] } }, bob: {}, 'group:dev': { answers: true } };
  const gateway = startScripted({ files: server() }, { approved, definitions });
  const { lines, exitCode } = await run([
    checkServers(gateway),
    checkLock(approved, gateway),
    checkAccess(access, gateway),
  ]);
  expect(exitCode).toBe(0);
  expect(lines).toEqual(
    expect.arrayContaining([
      'WARN  server files: there is no tool raed (tools.rename)',
      'WARN  access: entries for 2 callers and 1 group; access: no tool of files matches rea (access.alice.servers.files)',
      'WARN  lock: 0 approved tools; files: 1 tool is not approved: read (see: openai-responses-mcp tools --diff)',
    ]),
  );
  const all = approve(gateway.listed);
  const locked = startScripted({ files: server() }, { approved: all });
  const approvedLines = (await run([checkLock(all, locked)])).lines;
  expect(approvedLines).toContain('ok    lock: 1 approved tool');
});

test('as JSON, it is one document, written at the end, with what to do', async () => {
  const failed: Check = {
    name: 'web search',
    verdict: 'failed',
    detail: 'content_filtered',
    error: { kind: 'content_filtered' },
  };
  const { exitCode, out, writes } = await run([NODE, CONFIGURATION, api(finds([failed]).application)], { json: true });
  expect({ exitCode, writes }).toEqual({ exitCode: 1, writes: 1 });
  const todo = expect.stringContaining('content filter');
  expect(JSON.parse(out)).toEqual({
    ok: false,
    checks: [
      { name: 'node', verdict: 'ok', detail: process.versions.node },
      { name: 'configuration', verdict: 'ok', detail: 'valid (defaults, OPENAI_API_KEY)' },
      { name: 'key', verdict: 'ok', detail: 'found in OPENAI_API_KEY' },
      { name: 'web search', verdict: 'failed', detail: 'content_filtered', todo },
    ],
  });
});

test('Ctrl-C ends it with 130 and no further output', async () => {
  const controller = new AbortController();
  const { application } = finds(WELL, () => controller.abort());
  const { exitCode, lines } = await run([api(application)], { signal: controller.signal });
  expect(exitCode).toBe(130);
  expect(lines.at(-1)).toBe('ok    connection: api.test answered (HTTP 401)');
});

test.each([false, true])('no key is shown in the advice (json: %j)', async (json) => {
  const error = { kind: 'bad_request', detail: 'Bearer sk-other-key-0123456789' } as const;
  const failed: Check = { name: 'web search', verdict: 'failed', detail: 'bad_request', error };
  expect((await run([api(finds([failed]).application)], { json })).out).toContain('Bearer [redacted]');
});

test('a terminal names the check that is running until it ends, except with --json', async () => {
  const search: Check = { name: 'web search', verdict: 'running', detail: 'Searching the web' };
  const { application } = finds([search, ...WELL.slice(1)]);
  const written: string[] = [];
  const err = { isTTY: true, write: (text: string) => void written.push(text) };
  const progress = { ...commandContext().context, err };
  await run([api(application)], { progress, json: true });
  expect(written).toEqual([]);
  const { out } = await run([api(application)], { progress });
  expect(written.join('')).toContain('0 s  Checking');
  expect(written.join('')).toContain('0 s  Searching the web');
  expect(written.at(-1)).toBe('\r\u001B[2K');
  expect(out).not.toMatch(/Checking|Searching/);
});

test('a line that is too long for a terminal continues below its text', async () => {
  const { lines } = await run([checkConfiguration('one two three four', [])], { columns: 30 });
  expect(lines).toEqual(['ok    configuration:', '      valid (one two three', '      four)']);
});
