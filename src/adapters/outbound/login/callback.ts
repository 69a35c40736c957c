import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const PATH = '/callback';

/** A server on this machine that waits for the browser to return from the issuer. */
export type Callback = Awaited<ReturnType<typeof openCallback>>;

/** Waits until `close` for a callback with this state, which only the issuer learns; refuses other requests. Rejects if the port is in use. */
export async function openCallback(port: number, state: string) {
  let onReturned = (_: URLSearchParams): void => {};
  const returned = new Promise<URLSearchParams>((resolve) => {
    onReturned = resolve;
  });
  /** Accepts the URL of this login, which has its state. False for any other URL. */
  const accept = (url: string): boolean => {
    const parameters = new URLSearchParams(url.replace(/^[^?]*/, ''));
    const isRight = parameters.get('state') === state;
    if (isRight) onReturned(parameters);
    return isRight;
  };
  const server = createServer(({ method, url = '' }, response) => {
    const [status, text] =
      method === 'GET' && url.split('?')[0] === PATH && accept(url)
        ? [200, 'You can close this page and return to the terminal.']
        : [400, 'This address does not belong to the login that is in progress.'];
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${text}\n`);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return {
    redirectUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    returned,
    accept,
    close,
  };
}
