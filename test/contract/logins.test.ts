import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { OAuthLogins } from '../../src/adapters/outbound/login/oauth-logins.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { CALLBACK, FakeLogins } from '../support/fake-logins.ts';
import { freePort } from '../support/oauth-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { describeLogins, type LoginsKit } from './describe-logins.ts';

async function startOAuth(): Promise<LoginsKit> {
  const folder = mkdtempSync(join(tmpdir(), 'logins-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const issuer = await FakeIssuer.start();
  const clock = new SystemClock();
  const callbackPort = await freePort();
  const auth = { grant: 'authorization_code', callbackPort } as const;
  const servers = ['notes', 'issues'].map((name) => ({ name, url: `${issuer.origin}/${name}`, headers: {}, auth }));
  const logins = new OAuthLogins({
    servers,
    files: new LoginFiles(join(folder, 'logins'), clock, new RecordingLogger()),
    network: { fetchFor: async () => fetch, clock },
    learn: () => {},
  });
  const open = async (callback: string) => void (await (await fetch(callback)).text());
  return { logins, agree: async (url) => issuer.callbackFor(url), open };
}

async function startFake(): Promise<LoginsKit> {
  const logins = new FakeLogins({ notes: 'https://notes.example.com/mcp', issues: 'https://issues.example.com/mcp' });
  logins.signsIn = false;
  let onOpened = (): void => {};
  const signIn = logins.signIn.bind(logins);
  logins.signIn = (server, person, signal) => {
    const opened = new Promise<void>((resolve) => {
      onOpened = resolve;
    });
    async function* lines() {
      yield* person.lines;
      await opened;
      yield `${CALLBACK}?state=right`;
    }
    return signIn(server, { ...person, lines: lines() }, signal);
  };
  return { logins, agree: async () => `${CALLBACK}?state=right&code=1`, open: async () => onOpened() };
}

describeLogins('OAuthLogins', startOAuth);
describeLogins('FakeLogins', startFake);
