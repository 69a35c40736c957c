import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { pageResolver } from '../../src/adapters/outbound/pages/page-connector.ts';

test('a name whose name server is silent is given up, without a thread of the process', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const resolve = pageResolver([`127.0.0.1:${silent.address().port}`]);
  const error = await new Promise((settle) => resolve('a.example', { all: true }, settle));
  expect(error).toMatchObject({ code: 'ETIMEOUT' });
});
