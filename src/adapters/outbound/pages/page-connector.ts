import { type LookupAddress, type LookupAllOptions, promises } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';

type ResolveAll = (
  host: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The name has no address that may be connected to. */
class ForbiddenAddress extends Error {
  constructor(host: string) {
    super(`${host} is not a public address`);
  }
}

/**
 * Asks name servers for the addresses of a public name, each for at most a second. `dns.lookup` would wait for silent name servers on the
 * threads that it shares with the rest of the process. `servers`: instead of those of the system.
 */
export function pageResolver(servers?: readonly string[]): ResolveAll {
  return (host, _options, callback) => {
    // A new one each time: it reads once which name servers the system uses, and they change with the network.
    const resolver = new promises.Resolver({ timeout: 1000, tries: 1 });
    if (servers !== undefined) resolver.setServers(servers);
    void Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]).then(([v4, v6]) => {
      const found = [v4, v6].flatMap((outcome, index) =>
        outcome.status === 'fulfilled'
          ? outcome.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
          : [],
      );
      const isFailed = found.length === 0 && v4.status === 'rejected';
      callback(isFailed ? v4.reason : null, found);
    });
  };
}

/**
 * A dispatcher that connects only to allowed addresses. They are checked when the connection is made, so that a name cannot resolve to
 * another address between a check and the connection. `resolve` looks names up.
 */
export function createPageAgent(
  isAllowed: (address: string) => boolean,
  connectMs: number,
  resolve: ResolveAll = pageResolver(),
): Agent {
  const guardedLookup: LookupFunction = (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      // One forbidden address makes the name suspicious.
      if (first === undefined || allowed.length < addresses.length) return callback(new ForbiddenAddress(host), '', 0);
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ timeout: connectMs, lookup: guardedLookup });
  return new Agent({
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[|\]$/g, '');
      // Addresses are not looked up.
      if (isIP(host) !== 0 && !isAllowed(host)) callback(new ForbiddenAddress(host), null);
      else connect(options, callback);
    },
  });
}
