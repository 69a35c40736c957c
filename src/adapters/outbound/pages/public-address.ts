import ipaddr from 'ipaddr.js';

/** Global unicast, the only part of IPv6 that is in use on the internet (RFC 4291); `::127.0.0.1`, too, is outside it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Looks public, but is a service of the cloud that only its own machines reach: Azure's platform. */
const PLATFORM = '168.63.129.16';

/** Whether an IP address is one of the public internet: not of this machine, of a private network, or reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `::ffff:127.0.0.1` is 127.0.0.1.
  const known = ipaddr.process(address);
  if (known.toString() === PLATFORM) return false;
  return known.range() === 'unicast' && (known instanceof ipaddr.IPv4 || known.match(GLOBAL_UNICAST));
}
