import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SigningIn } from '../../../application/ports/tool-server.ts';
import { systemProgram } from '../files/local-files.ts';
import type { Environment } from '../network/environment.ts';
import type { LoginServer } from './login.ts';
import { LoginFailure } from './oauth-fetch.ts';

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

const DEFAULT_PORT = 3918;

/** Opens the callback. If its port is in use, another one is used only if no issuer knows the redirect URI. */
export function callbackOf({ auth }: LoginServer, state: string): Promise<Callback> {
  const port = auth?.callbackPort ?? DEFAULT_PORT;
  const isKnown = (auth?.callbackPort ?? auth?.clientId ?? auth?.clientMetadataUrl) !== undefined;
  return openCallback(port, state).catch(({ code }: NodeJS.ErrnoException) => {
    if (!isKnown) return openCallback(0, state);
    const reason = `the port ${port} cannot be used for the callback (${code})`;
    throw new LoginFailure(`${reason}; choose another one with auth.callback_port`);
  });
}

/** Reads the URL that a browser on another machine cannot open, and that the person pastes. The end of the input does not end the wait. */
export async function readPasted({ redirectUrl, accept }: Callback, { lines, onIgnored }: SigningIn): Promise<void> {
  for await (const line of lines)
    if (line.trim() !== '' && !accept(line.trim()))
      onIgnored(`the line is not the URL of this login, which begins with ${redirectUrl}`);
}

const PATH = '/callback';

/** A server on this machine that waits for the browser to return from the issuer. */
type Callback = Awaited<ReturnType<typeof openCallback>>;

/** Waits until `close` for a callback with this state, which only the issuer learns; refuses other requests. Rejects if the port is in use. */
async function openCallback(port: number, state: string) {
  let onReturned = (_: URLSearchParams): void => {};
  const returned = new Promise<URLSearchParams>((resolve) => {
    onReturned = resolve;
  });
  /** Accepts the URL of this login, which has its state. False for any other URL. */
  const accept = (url: string): boolean => {
    const parameters = new URLSearchParams(url.replace(/^[^?]*/, ''));
    const isRight = parameters.get('state') === state;
    if (isRight) onReturned(parameters);
    return isRight;
  };
  const server = createServer(({ method, url = '' }, response) => {
    const [status, text] =
      method === 'GET' && url.split('?')[0] === PATH && accept(url)
        ? [200, 'You can close this page and return to the terminal.']
        : [400, 'This address does not belong to the login that is in progress.'];
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${text}\n`);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return {
    redirectUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    returned,
    accept,
    close,
  };
}
