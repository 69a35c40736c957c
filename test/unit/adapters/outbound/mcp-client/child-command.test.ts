import { expect, test } from 'vitest';
import { childEnvironment } from '../../../../../src/adapters/outbound/mcp-client/child-command.ts';

const AUTHORITIES = {
  NODE_EXTRA_CA_CERTS: '/ca.pem',
  NODE_USE_SYSTEM_CA: '1',
  SSL_CERT_FILE: '/cert.pem',
  SSL_CERT_DIR: '/certs',
  REQUESTS_CA_BUNDLE: '/bundle.pem',
};

const environmentOf = (options: Partial<Parameters<typeof childEnvironment>[0]> = {}) =>
  childEnvironment({
    environment: { ...AUTHORITIES, OTHER: 'x', OUR_KEY: 'secret' },
    inherit: [],
    envs: {},
    ownSecrets: ['OUR_KEY'],
    ...options,
  });

test('a child inherits the variables that name authorities, the mark of the gateway, and no others', () => {
  expect(environmentOf()).toEqual({ ...AUTHORITIES, OPENAI_RESPONSES_MCP_GATEWAY: '1' });
});

// S54
test.each<[true | readonly string[]]>([[true], [['OTHER', 'OUR_KEY']]])(
  'a child never inherits our keys, with inherit_env: %j',
  (inherit) => {
    expect(environmentOf({ inherit })).toMatchObject({ OTHER: 'x' });
    expect(environmentOf({ inherit })).not.toHaveProperty('OUR_KEY');
  },
);

test('what is configured for a server wins', () => {
  const envs = { NODE_EXTRA_CA_CERTS: '/own.pem', OUR_KEY: 'given' };
  expect(environmentOf({ envs })).toMatchObject({ ...AUTHORITIES, ...envs });
});

test('a child inherits the locale, the time zone, the folder of temporary files, and where Docker is', () => {
  const place = {
    LANG: 'ja_JP.UTF-8',
    LC_ALL: 'ja_JP.UTF-8',
    LC_TIME: 'de_DE.UTF-8',
    TZ: 'Asia/Tokyo',
    TMPDIR: '/scratch',
  };
  const docker = { DOCKER_HOST: 'tcp://127.0.0.1:1', DOCKER_CONTEXT: 'colima' };
  const others = { LANGUID: 'x', TZ_: 'x', DOCKER_PASSWORD: 'x', DOCKER_AUTH_CONFIG: 'x' };
  expect(environmentOf({ environment: { ...place, ...docker, ...others } })).toEqual({
    ...place,
    ...docker,
    OPENAI_RESPONSES_MCP_GATEWAY: '1',
  });
});
