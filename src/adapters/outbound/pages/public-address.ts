import ipaddr from 'ipaddr.js';

/** Whether an IP address is one of the public internet: not of this machine, of a private network, or reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `::ffff:127.0.0.1` is 127.0.0.1.
  return ipaddr.process(address).range() === 'unicast';
}
