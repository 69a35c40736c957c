import { existsSync } from 'node:fs';
import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import type { SignedOut } from '../../../application/ports/tool-server.ts';
import type { LoginUse } from '../../../domain/gateway/login-owner.ts';
import { clientOf, type Login, type LoginServer, secretsOf } from './login.ts';
import type { LoginFiles } from './login-files.ts';
import { LoginFailure, oauthFetch, toFailure } from './oauth-fetch.ts';
import type { LoginContext } from './request-login.ts';

interface EndedLogin {
  readonly files: LoginFiles;
  readonly network: Pick<LoginContext, 'fetch' | 'clock'>;
  readonly learn: LoginContext['learn'];
  /** Whose login it is. */
  readonly use: LoginUse;
}

/** Deletes a login, and revokes its tokens if the issuer can do that. */
export async function endLogin(server: LoginServer, ended: EndedLogin, signal: AbortSignal): Promise<SignedOut> {
  const { files, use } = ended;
  const place = { url: server.url, use };
  if (!existsSync(files.folder)) return { kind: 'none' };
  const take = async () => {
    const login = await files.read(place);
    // Also deletes a file that is not a login, and temporary files of killed processes.
    await files.write(place, undefined);
    return login;
  };
  let failure: 'not_deleted' | 'not_revoked' = 'not_deleted';
  try {
    const login = await files.locked(place, take, signal);
    failure = 'not_revoked';
    if (login !== undefined) await revoke(login, server, ended, signal);
    return { kind: login === undefined ? 'none' : 'deleted' };
  } catch (error) {
    return { kind: failure, reason: toFailure(error).message };
  }
}

/** Revokes each token (RFC 7009), even if the other cannot be revoked. */
async function revoke(
  login: Login,
  server: LoginServer,
  { network, learn }: EndedLogin,
  signal: AbortSignal,
): Promise<void> {
  const { metadata, tokens } = login;
  const { revocation_endpoint: url } = metadata as { readonly revocation_endpoint?: string };
  learn(secretsOf(login));
  if (url === undefined) throw new LoginFailure(`${metadata.issuer} names no revocation_endpoint`);
  const client = clientOf(login, server);
  const { client_id, client_secret } = client;
  const method = selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? []);
  const isBasic = method === 'client_secret_basic';
  const headers = new Headers(isBasic ? { Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` } : {});
  const fetchFn = oauthFetch(server.url, network, signal);
  const revoked = [tokens.refresh_token, tokens.access_token].map(async (token) => {
    const body = new URLSearchParams({ ...(!isBasic && { client_id, ...(client_secret && { client_secret }) }) });
    body.set('token', token ?? '');
    if (token !== undefined) await fetchFn(url, { method: 'POST', headers, body });
  });
  await Promise.allSettled(revoked);
  await Promise.all(revoked);
}
