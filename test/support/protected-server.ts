import type { FakeIssuer } from './fake-issuer.ts';
import type { RemoteServer } from './servers/remote-servers.ts';

/** Lets a server accept only the tokens for which `accepts` is true. Its challenge names the metadata at the issuer. */
export function protect(server: RemoteServer, issuer: FakeIssuer, accepts: (token: string) => boolean): void {
  issuer.resource = { resource: server.url };
  const metadata = `${issuer.origin}/.well-known/oauth-protected-resource`;
  server.protect(({ headers: { authorization = '' } }, response) => {
    if (accepts(authorization.replace('Bearer ', ''))) return true;
    response.writeHead(401, { 'WWW-Authenticate': `Bearer resource_metadata="${metadata}"` }).end();
    return false;
  });
}
