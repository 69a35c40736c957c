import { describe, expect, test } from 'vitest';
import { listLogins, login, logout } from '../../../../../src/adapters/inbound/cli/logins.ts';
import type { NoLogin } from '../../../../../src/adapters/inbound/words/server-messages.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { CALLBACK, FakeLogins } from '../../../../support/fake-logins.ts';
import { redactorOf } from '../../../../support/redactor.ts';

const URL_OF_REQUEST = `https://auth.example.com/authorize?state=right&redirect_uri=${encodeURIComponent(CALLBACK)}`;
const HOW = 'If the browser cannot open 127.0.0.1 afterwards, paste that address here (input is hidden).';
const WORDS = 'notes: https://auth.example.com, scopes read, until 2026-01-05T04:00:00.000Z, then renewed';
const KEY = 'sk-proj-UnitKey0123456789';
const REASONS: readonly NoLogin[] = ['command', 'header', 'client_credentials', 'unencrypted'];

/** The commands, for two servers to which a person can sign in, and one for each reason why a person cannot. */
function start({ isTerminal = false, signal = never() } = {}) {
  const logins = new FakeLogins({ notes: 'https://notes.example.com/mcp', issues: 'https://issues.example.com/mcp' });
  const servers = new Map<string, NoLogin | undefined>([
    ['notes', undefined],
    ['issues', undefined],
    ...REASONS.map((why) => [why, why] as const),
  ]);
  const { context, printed } = commandContext({ isTTY: isTerminal });
  const options = { ...context, logins, servers, isTerminal, redactor: redactorOf(KEY) };
  const opened: string[] = [];
  const signIn = (server = 'notes', typed: readonly string[] = [], hasBrowser = false) => {
    async function* lines() {
      yield* typed;
    }
    const openBrowser = hasBrowser ? (url: string) => opened.push(url) : undefined;
    return printed(login({ ...options, server, lines: lines(), openBrowser }, signal));
  };
  return {
    logins,
    opened,
    signIn,
    list: (json = false) => printed(listLogins({ ...options, json })),
    signOut: (server: string | undefined, caller?: string) => printed(logout({ ...options, server, caller }, signal)),
  };
}

describe('login', () => {
  test('prints the URL alone on a line of standard error, and the login on standard output', async () => {
    const { signIn, opened } = start();
    expect(await signIn()).toEqual({
      exitCode: 0,
      out: `Signed in to ${WORDS}\n`,
      err: `Sign in to notes in the browser, at this URL:\n${URL_OF_REQUEST}\n${HOW}\n`,
    });
    expect(opened).toEqual([]);
  });

  test('opens the browser, and prints the URL for the case that none opens', async () => {
    const { signIn, opened } = start({ isTerminal: true });
    const { err } = await signIn('notes', [], true);
    expect(err).toContain(`Sign in to notes in the browser. If none opens, sign in at this URL:\n${URL_OF_REQUEST}\n`);
    expect(opened).toEqual([URL_OF_REQUEST]);
  });

  test('shows on a terminal that it looks for the issuer, before the URL', async () => {
    const { err } = await start({ isTerminal: true }).signIn();
    expect(err).toMatch(/^\r\u001B\[2K0 s {2}Looking for the issuer of notes\r\u001B\[2KSign in to notes /);
  });

  test('says what to do if the issuer has forgotten the client of the login that exists', async () => {
    const { signIn } = start();
    await signIn();
    expect((await signIn()).err.split('\n').at(-2)).toBe(
      'If its page says that the client is unknown, run first: openai-responses-mcp logout notes',
    );
  });

  test('accepts a pasted URL, and says why others are not', async () => {
    const { signIn, logins } = start();
    logins.signsIn = false;
    const { exitCode, err } = await signIn('notes', [`odd ${KEY}`, `${CALLBACK}?state=right&code=1`]);
    expect(exitCode).toBe(0);
    expect(err.split('\n').slice(3)).toEqual(['Not used: the URL is not the answer to this login.', '']);
  });

  test('fails with the reason, in which nothing is secret or controls the terminal', async () => {
    const { signIn, logins } = start();
    logins.failure = `the issuer \u001B[31mrefused ${KEY}`;
    expect(await signIn()).toEqual({
      exitCode: 1,
      out: '',
      err: 'Signing in to notes failed: the issuer refused [redacted]. Nothing was changed; you can run the command again.\n',
    });
  });

  test('ends with Ctrl-C', async () => {
    const interruption = new AbortController();
    const { signIn, logins } = start({ signal: interruption.signal });
    logins.signsIn = false;
    const signedIn = signIn();
    interruption.abort();
    const { exitCode, out, err } = await signedIn;
    expect({ exitCode, out }).toEqual({ exitCode: 130, out: '' });
    expect(err).not.toContain('failed');
  });

  test.each([
    ['nots', 'There is no server "nots". Did you mean notes?'],
    ['command', /program on this machine/],
    ['header', /Remove that header to sign in/],
    ['client_credentials', /client_credentials.*Remove auth\.grant to sign in/],
    ['unencrypted', /Use https:/],
  ])('of %s is bad usage, and says what to do', async (server, message) => {
    const { exitCode, out, err } = await start().signIn(server);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    if (typeof message === 'string') expect(err).toBe(`${message}\n`);
    else expect(err).toMatch(message);
  });
});

describe('logins', () => {
  test('says so if there are none', async () => {
    const { list } = start();
    const out = 'There are no logins. Sign in with: openai-responses-mcp login <server>\n';
    expect(await list()).toEqual({ exitCode: 0, out, err: '' });
    expect(JSON.parse((await list(true)).out)).toEqual({ logins: [] });
  });

  test('lists issuer, scopes and end, which may not be known', async () => {
    const { list, signIn, logins } = start();
    await signIn('notes');
    const known = await logins.list();
    const issues = { server: 'issues', url: 'https://issues.example.com', issuer: 'https://auth.example.com' };
    const unknown = { ...issues, scopes: [], expiresAt: undefined, renewable: false, isShared: false };
    logins.list = async () => [...known, unknown];
    expect((await list()).out).toBe(`${WORDS}\nissues: https://auth.example.com, no scopes, no known expiry\n`);
    const about = { caller: null, issuer: 'https://auth.example.com', scopes: ['read'], renewable: true };
    const expiresAt = '2026-01-05T04:00:00.000Z';
    expect(JSON.parse((await list(true)).out)).toEqual({
      logins: [
        { server: 'notes', url: 'https://notes.example.com/mcp', ...about, expiresAt },
        { ...issues, caller: null, scopes: [], expiresAt: null, renewable: false },
      ],
    });
  });
});

describe('of callers over HTTP', () => {
  const [alice, bob] = [
    { kind: 'token', name: 'alice' } as const,
    { kind: 'subject', issuer: 'https://a.example', sub: 'bob' } as const,
  ];
  const some = () => {
    const kit = start();
    kit.logins.sign('notes', alice, bob);
    kit.logins.sign('issues', alice);
    return kit;
  };
  const callers = (text: string) =>
    JSON.parse(text).logins.map(({ server, caller }: Record<string, unknown>) => `${server} ${caller}`);

  test('logins names the caller of each login', async () => {
    const { list, signIn } = some();
    await signIn('notes');
    const names = (await list()).out.split('\n').map((line) => line.replace(/: .*/, ''));
    expect(names).toEqual(['notes', 'notes as alice', 'notes as oauth:bob', 'issues as alice', '']);
    expect(callers((await list(true)).out)).toEqual(['notes null', 'notes alice', 'notes oauth:bob', 'issues alice']);
  });

  test('logout --caller ends the login to one server, or those to all', async () => {
    const { list, signIn, signOut } = some();
    await signIn('notes');
    expect((await signOut('notes', 'oauth:bob')).out).toBe('The login of oauth:bob to notes was deleted.\n');
    expect((await signOut(undefined, 'alice')).out).toBe(
      'The login of alice to notes was deleted.\nThe login of alice to issues was deleted.\n',
    );
    expect(callers((await list(true)).out)).toEqual(['notes null']);
    expect(await signOut('issues', 'alice')).toEqual({
      exitCode: 0,
      out: 'There is no login of alice to issues.\n',
      err: '',
    });
    expect((await signOut(undefined, 'alice')).out).toBe('There is no login of alice.\n');
  });
});

describe('logout', () => {
  test('deletes a login, and succeeds without one', async () => {
    const { signIn, signOut } = start();
    await signIn();
    expect(await signOut('notes')).toEqual({ exitCode: 0, out: 'The login to notes was deleted.\n', err: '' });
    for (const server of ['notes', 'command'])
      expect(await signOut(server)).toEqual({ exitCode: 0, out: `There is no login to ${server}.\n`, err: '' });
  });

  test('says that the tokens were not revoked, and why', async () => {
    const { signIn, signOut, logins } = start();
    await signIn();
    logins.notRevoked = 'no response in time';
    expect(await signOut('notes')).toEqual({
      exitCode: 0,
      out: 'The login to notes was deleted.\n',
      err: 'Not every token for notes was revoked: no response in time. Revoke the access at the issuer if it must end now.\n',
    });
  });

  test('fails if the login cannot be deleted', async () => {
    const { signOut, logins } = start();
    logins.signOut = async () => ({ kind: 'not_deleted', reason: 'the login cannot be written (EACCES)' });
    const { exitCode, out, err } = await signOut('notes');
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(err).toContain('was not deleted: the login cannot be written (EACCES).');
  });

  test('of an unknown server is bad usage', async () => {
    expect(await start().signOut('nots')).toMatchObject({ exitCode: 2, out: '' });
  });
});
