import { expect, test } from 'vitest';
import type { ServerEntry } from '../../../../../src/adapters/outbound/config/server-entry.ts';
import { serverSecrets } from '../../../../../src/adapters/outbound/config/server-secrets.ts';

const entry = (connection: object) => ({ connection }) as ServerEntry;

test('the secrets of servers are the values of their variables and headers, and the words of these', () => {
  const servers = [
    entry({ kind: 'child', envs: { TOKEN: 'one-secret', OTHER: '' } }),
    entry({ kind: 'remote', headers: { Authorization: 'Bearer other-secret', 'X-Key': 'one-secret' } }),
  ];
  expect(serverSecrets(servers)).toEqual(['one-secret', '', 'Bearer other-secret', 'Bearer', 'other-secret']);
});
