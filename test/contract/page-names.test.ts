import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { resolvePageName } from '../../src/adapters/outbound/pages/page-connector.ts';

test('a name whose name server is silent is given up, without a thread of the process', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const servers = [`127.0.0.1:${silent.address().port}`];
  await expect(resolvePageName('a.example', servers)).rejects.toMatchObject({ code: 'ETIMEOUT' });
});
