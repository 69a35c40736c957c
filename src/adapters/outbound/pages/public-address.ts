import ipaddr from 'ipaddr.js';

/** Global unicast, the only part of IPv6 that is in use on the internet (RFC 4291). It excludes `::127.0.0.1`. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** An address of Azure's platform. It looks public, but only machines in Azure reach it. */
const PLATFORM = '168.63.129.16';

/** Whether an IP address is one of the public internet: not of this machine, of a private network, or reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Converts `::ffff:127.0.0.1` to 127.0.0.1.
  const known = ipaddr.process(address);
  if (known.toString() === PLATFORM) return false;
  return known.range() === 'unicast' && (known instanceof ipaddr.IPv4 || known.match(GLOBAL_UNICAST));
}
