import type { RemoteServer } from './servers/remote-servers.ts';

const METADATA = '/.well-known/oauth-protected-resource';

/** Lets a server accept only the tokens for which `accepts` is true. Its challenge names its metadata, which name the issuer. */
export function protect(
  server: RemoteServer,
  issuer: { readonly origin: string },
  accepts: (token: string) => boolean | Promise<boolean>,
  scope = 'read',
): void {
  const { origin } = new URL(server.url);
  server.protect(async ({ url, headers: { authorization = '' } }, response) => {
    if (url === METADATA) {
      const document = { resource: server.url, authorization_servers: [issuer.origin], scopes_supported: [scope] };
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
      return false;
    }
    if (await accepts(authorization.replace('Bearer ', ''))) return true;
    response.writeHead(401, { 'WWW-Authenticate': `Bearer resource_metadata="${origin}${METADATA}"` }).end();
    return false;
  });
}
