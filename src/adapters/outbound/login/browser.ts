import { spawn } from 'node:child_process';
import { systemProgram } from '../files/local-files.ts';
import type { Environment } from '../network/environment.ts';

const OPENERS: { readonly [Platform in NodeJS.Platform]?: readonly [string, ...string[]] } = {
  darwin: ['open'],
  // The command `start` would need a shell.
  win32: [systemProgram('rundll32', process.env), 'url.dll,FileProtocolHandler'],
};

/** Opens an http(s) URL in the browser of this machine, if it has one. The browser gets no key of this program. */
export function openBrowser(url: string, environment: Environment, ownSecrets: readonly string[]): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !ownSecrets.includes(name)));
  const child = spawn(command, [...args, url], { env, detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
