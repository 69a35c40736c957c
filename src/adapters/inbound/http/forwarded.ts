import { REFUSALS } from '../words/refusal-messages.ts';
import { refuse } from './errors.ts';
import { refusal } from './refusal.ts';
import type { Middleware } from './request.ts';

/**
 * Refuses what a proxy or a tunnel on this machine passes on. It arrives from loopback, often with a `Host` of loopback, so that an endpoint without
 * tokens would be open to everyone whom the proxy serves.
 */
export const refuseForwarded: Middleware = async (c, next) => {
  const { headers, httpVersionMajor: major, httpVersionMinor: minor } = c.env.incoming;
  // MCP clients and browsers speak HTTP/1.1; nginx speaks HTTP/1.0 to its upstreams unless it is configured otherwise, and names itself in no header.
  const isOld = major === 1 && minor === 0;
  const isForwarded = isOld || Object.keys(headers).some((name) => FORWARDED.test(name));
  return isForwarded ? refuse(c, refusal('FORBIDDEN', REFUSALS.forwarded, { reason: 'forwarded by a proxy' })) : next();
};

/** Headers that proxies add: `Forwarded` (RFC 7239), `Via` (RFC 9110), `CDN-Loop` (RFC 8586), and those of products. */
const FORWARDED =
  /forwarded|^(?:via|cdn-loop|front-end-https|tailscale-.+|cf-.+|x-(?:original|envoy|arr|azure)-.+|x-remote-addr)$|(?:client|real|connecting|remote|user)-ip$/;
