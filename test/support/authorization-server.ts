import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { onTestFinished } from 'vitest';
import { startCleanProcess } from './clean-process.ts';

/** A real authorization server in a process of its own. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** Ends the process. */
  stop(): Promise<void>;
}

export interface AuthorizationServerOptions {
  /** Private keys; the first signs. */
  readonly keys: readonly JWK[];
  /** What may be granted, separated by spaces. */
  readonly scope: string;
  /** The life of an access token. Default: 900. */
  readonly tokenSeconds?: number;
}

/** Starts it for one test; resolves when it listens. */
export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const { child, exited, removeHome } = startCleanProcess([JSON.stringify(options)], {
    program: fileURLToPath(new URL('authorization-server.js', import.meta.url)),
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(async () => {
    await stop();
    removeHome();
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const issuer = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    void exited.then(() => reject(new Error(`The authorization server did not start: ${stderr}`)));
  });
  return { issuer, stop };
}

/** A new private key with an ID, as an authorization server has it. */
export async function newKey(kid: string, alg = 'RS256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' };
}

/** What a browser does until it is redirected to `redirectUrl`: the parameters of that redirect. */
export async function visit(url: URL, redirectUrl: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let next = url;
  for (;;) {
    const headers = { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
    const response = await fetch(next, { redirect: 'manual', headers });
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${next.href}: ${response.status} ${await response.text()}`);
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    next = new URL(location, next);
    if (next.href.startsWith(redirectUrl)) return next.searchParams;
  }
}
