import { isLoopback } from './listen-address.ts';

/** Whether nobody else can read or change what is sent to a URL: https://, or http:// on this machine. */
export function isSecureUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || `${url.username}${url.password}` !== '') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback({ host, port: 0 }));
}
