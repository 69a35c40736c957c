import { type LookupAddress, promises } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';

const CONNECT_MS = 3000;

/**
 * Asks name servers for the addresses of a public name, each for at most a second. `dns.lookup` would wait for silent name servers on the
 * threads that it shares with the rest of the process. `servers` replaces the name servers of the system.
 */
export async function resolvePageName(host: string, servers?: readonly string[]): Promise<readonly LookupAddress[]> {
  // A new resolver each time, because it reads the name servers of the system only once, and they change with the network.
  const resolver = new promises.Resolver({ timeout: 1000, tries: 1 });
  if (servers !== undefined) resolver.setServers(servers);
  const outcomes = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
  if (found.length === 0 && outcomes[0].status === 'rejected') throw outcomes[0].reason;
  return found.map((address) => ({ address, family: isIP(address) }));
}

/**
 * A dispatcher that connects only to allowed addresses. They are checked when the connection is made, so that a name cannot resolve to
 * another address between a check and the connection. `resolve` looks names up.
 */
export function createPageAgent(
  isAllowed: (address: string) => boolean,
  resolve: (host: string) => Promise<readonly LookupAddress[]> = resolvePageName,
): Dispatcher {
  const forbidden = (host: string) =>
    Object.assign(new Error(`${host} is not a public address`), { code: 'FORBIDDEN_ADDRESS' });
  const guardedLookup: LookupFunction = (host, options, callback) => {
    const onResolved = (addresses: readonly LookupAddress[]) => {
      const [first] = addresses;
      // A name with a single forbidden address is suspicious.
      if (first === undefined || !addresses.every(({ address }) => isAllowed(address)))
        return callback(forbidden(host), '', 0);
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    resolve(host).then(onResolved, (error) => callback(error, '', 0));
  };
  const connect = buildConnector({ timeout: CONNECT_MS, lookup: guardedLookup });
  return new Agent({
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[|\]$/g, '');
      // Addresses are checked here, because they are not looked up.
      if (isIP(host) !== 0 && !isAllowed(host)) callback(forbidden(host), null);
      else connect(options, callback);
    },
  });
}
