import { expect, test } from 'vitest';
import { childEnvironment } from '../../../../../src/adapters/outbound/mcp-client/child-environment.ts';

const AUTHORITIES = {
  NODE_EXTRA_CA_CERTS: '/ca.pem',
  NODE_USE_SYSTEM_CA: '1',
  SSL_CERT_FILE: '/cert.pem',
  SSL_CERT_DIR: '/certs',
  REQUESTS_CA_BUNDLE: '/bundle.pem',
};

const environmentOf = (envs: Record<string, string>) =>
  childEnvironment({ environment: { ...AUTHORITIES, OTHER: 'x' }, inherit: [], envs, ownSecrets: [] });

test('a child inherits the variables that name authorities, and no others', () => {
  const environment = environmentOf({});
  expect(environment).toMatchObject(AUTHORITIES);
  expect(environment).not.toHaveProperty('OTHER');
});

test('what is configured for a server wins', () => {
  expect(environmentOf({ NODE_EXTRA_CA_CERTS: '/own.pem' })).toMatchObject({
    ...AUTHORITIES,
    NODE_EXTRA_CA_CERTS: '/own.pem',
  });
});
