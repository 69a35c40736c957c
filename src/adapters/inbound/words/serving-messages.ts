import { count } from './plain.ts';

/** The warning that an endpoint on loopback requires no token. */
export const OPEN =
  'no token is required: every program on this machine may call these tools. Behind a proxy or a tunnel, always set MCP_HTTP_TOKEN (http.token_env): what it forwards comes from this machine, too';

/** Messages of the HTTP server on standard error. */
export const SERVING = {
  at: (program: string, url: string) => `${program}: serving MCP at ${url}\n`,
  noKey: (variable: string) => `No usable API key: answers will fail until you set ${variable} (see doctor).\n`,
  gatewayOnly: (variable: string) =>
    `No API key: the answer tools are not offered. The tools of your servers work without one. To offer answers, set ${variable}.`,
  hosts:
    'Only requests with the host name localhost are accepted: set MCP_HTTP_ALLOWED_HOSTS to the host names that clients use.\n',
  draining: (maxMs: number, waiting: number) =>
    `Waiting up to ${Math.ceil(maxMs / 1000)} s for ${count(waiting, 'request')} in flight; another signal ends ${waiting === 1 ? 'it' : 'them'}.\n`,
  notListening: (host: string, port: number, code: string) =>
    `Cannot listen on ${host} port ${port} (${code}): ${LISTEN_ERRORS[code] ?? 'choose another address (--http, MCP_HTTP_LISTEN or http.listen)'}.\n`,
};

/** The cause and the fix, by the error code of the operating system. */
const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is using this port; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'this host name does not exist',
  EACCES: 'this user has no permission to use this port; choose port 1024 or higher',
};
