import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { resolvePageName } from '../../src/adapters/outbound/pages/page-connector.ts';

const AAAA = 28;
/** An answer to the question of a message: its name has the address 2001:db8::1 for 60 seconds. */
const ADDRESS = [0xc0, 0x0c, 0, AAAA, 0, 1, 0, 0, 0, 60, 0, 16, 0x20, 0x01, 0x0d, 0xb8, ...Array(11).fill(0), 1];

test('the name servers are asked, and a name needs only one kind of address', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  // Knows the IPv6 address of one name, and fails otherwise.
  socket.on('message', (query, { port, address }) => {
    // After a header of 12 bytes: the name, a byte of zero, the type and the class.
    const end = query.indexOf(0, 12) + 5;
    const isKnown = query.includes('known') && query.readUInt16BE(end - 4) === AAAA;
    const flags = isKnown ? [0x81, 0x80, 0, 1, 0, 1] : [0x81, 0x82, 0, 1, 0, 0];
    const header = [...query.subarray(0, 2), ...flags, 0, 0, 0, 0];
    const answer = isKnown ? ADDRESS : [];
    socket.send(Buffer.from([...header, ...query.subarray(12, end), ...answer]), port, address);
  });
  const servers = [`127.0.0.1:${socket.address().port}`];
  expect(await resolvePageName('known.example', servers)).toEqual([{ address: '2001:db8::1', family: 6 }]);
  await expect(resolvePageName('other.example', servers)).rejects.toMatchObject({ code: 'ESERVFAIL' });
});
