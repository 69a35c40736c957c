// The remote server of the gateway's soak: Streamable HTTP with sessions. It forgets sessions, breaks connections, and
// sometimes answers with HTTP 500.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { errorOf, resultOf } from './soak-tools.js';

/**
 * Starts it on a free port of this machine.
 *
 * @param {{ random: () => number, isHealthy: () => boolean, received: (call: number) => void }} options `random` is from
 *   0 to 1
 */
export async function startSoakRemote({ random, isHealthy, received }) {
  const sessions = new Set();

  const post = async (request, response) => {
    const message = await json(request);
    const session = request.headers['mcp-session-id'];
    const isStart = message.method === 'initialize';
    if (session === undefined && !isStart) return send(response, 400, errorOf(message.id, message.method));
    if (!isStart && !sessions.has(session)) return response.writeHead(404).end();
    if (message.id === undefined || message.method === undefined) return response.writeHead(202).end();
    if (message.method === 'tools/call' && !isHealthy() && random() < 0.01) return response.writeHead(500).end();
    const headers = {};
    if (isStart) {
      headers['mcp-session-id'] = randomUUID();
      sessions.add(headers['mcp-session-id']);
    }
    const die = async () => {
      request.socket.destroy();
      return {};
    };
    const result = await resultOf(message, { received, die });
    if (response.destroyed) return undefined;
    if (result === undefined) return send(response, 200, errorOf(message.id, message.method));
    return send(response, 200, { jsonrpc: '2.0', id: message.id, result }, headers);
  };

  const server = createServer((request, response) => {
    // A client that disconnected does not matter.
    response.on('error', () => {});
    if (request.method === 'POST') post(request, response).catch(() => response.destroy());
    else if (request.method === 'DELETE')
      response.writeHead(sessions.delete(request.headers['mcp-session-id']) ? 204 : 404).end();
    else response.writeHead(405).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    /** As a server that was started again. */
    forgetSessions: () => sessions.clear(),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function send(response, status, message, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(message));
}
