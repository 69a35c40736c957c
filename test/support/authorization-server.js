// A real authorization server on loopback, for one test: node authorization-server.js '{"keys": [...], "scope": "..."}'.
// Whoever comes is alice, and agrees to everything. It writes its URL to standard output when it listens.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const { keys, scope, tokenSeconds = 900 } = JSON.parse(process.argv[2]);

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys },
    cookies: { keys: ['only-for-tests'] },
    scopes: ['openid', 'offline_access', ...scope.split(' ')],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, audience) => ({
          scope,
          audience,
          accessTokenTTL: tokenSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: keys[0].alg, kid: keys[0].kid } },
        }),
      },
    },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url.startsWith('/interaction/')) void agree(provider, request, response);
    else answer(request, response);
  });
  process.stdout.write(`${issuer}\n`);
});

async function agree(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'alice' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}
