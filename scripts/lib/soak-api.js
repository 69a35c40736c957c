// A substitute for the OpenAI API in which about a third of the requests fail.
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Starts it on a free port of this machine. A question `question N` is answered with `answer N`.
 *
 * @param {() => number} random from 0 to 1
 */
export async function startSoakApi(random) {
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const number = /^question (\d+)/.exec(JSON.parse(body).input)?.[1];
      // A client that disconnected does not matter.
      fateOf(random())(response, `answer ${number}`, random).catch(() => {});
    });
    request.on('error', () => {});
    response.on('error', () => {});
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** How a request is answered, and how often per thousand. */
const FATES = [
  [650, (response, text, random) => answer(response, text, random)],
  [30, async (response, text) => sendJson(response, 200, completeResponse(text))],
  [20, (response, text, random) => answer(response, text, random, { broken: true })],
  [10, (response, text, random) => answer(response, text, random, { status: 'incomplete' })],
  [50, async (response, _, random) => rateLimit(response, { 'retry-after-ms': String(Math.ceil(random() * 150)) })],
  [20, async (response) => rateLimit(response)],
  [50, async (response) => sendError(response, 500, 'server_error', 'The server had an error.')],
  [20, async (response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<html>Busy</html>')],
  [30, async (response) => response.socket.resetAndDestroy()],
  [30, (response, text, random) => answer(response, text, random, { after: reset })],
  [20, (response, text, random) => answer(response, text, random, { after: (response) => response.end() })],
  [10, async () => {}],
  [10, (response, text, random) => answer(response, text, random, { after: () => {} })],
  [10, async (response) => sendError(response, 400, null, 'Something is wrong with the question.')],
  [10, async (response) => sendError(response, 429, 'insufficient_quota', 'You exceeded your current quota.')],
  [10, async (response) => sendJson(response, 200, {})],
  [20, (response, text, random) => answer(response, text, random, { reason: 'content_filter', status: 'incomplete' })],
];
const TOTAL = FATES.reduce((sum, [weight]) => sum + weight, 0);

function fateOf(random) {
  let left = random * TOTAL;
  for (const [weight, fate] of FATES) {
    left -= weight;
    if (left < 0) return fate;
  }
  return FATES[0][1];
}

/** A stream in pieces; `after` replaces its terminal event. */
async function answer(response, text, random, { after, broken = false, status = 'completed', reason = 'length' } = {}) {
  await wait(random() * 60);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  send({ type: 'response.created', response: {} });
  for (const delta of text.match(/.{1,4}/g)) {
    send({ type: 'response.output_text.delta', delta });
    await wait(random() * 5);
  }
  if (broken) response.write('data: {"type":"response.output_text.delta","delta":"cut o\n\n');
  if (after) return after(response);
  const details = status === 'incomplete' ? { incomplete_details: { reason } } : {};
  send({ type: `response.${status}`, response: { ...completeResponse(text), status, ...details } });
  response.end();
}

function reset(response) {
  response.socket?.resetAndDestroy();
}

function completeResponse(text) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { id: 'resp_1', status: 'completed', model: 'gpt-5.2', output: [{ type: 'message', content }] };
}

function rateLimit(response, headers = {}) {
  sendError(response, 429, 'rate_limit_exceeded', 'Slow down.', headers);
}

function sendError(response, status, code, message, headers = {}) {
  sendJson(response, status, { error: { message, type: 'some_type', param: null, code } }, headers);
}

function sendJson(response, status, value, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}
