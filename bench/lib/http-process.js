// A child process that serves HTTP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';

/**
 * Starts a script of Node, and waits until it names its URL. Access lines go to a pipe that is read, as by a log collector.
 */
export async function startHttpProcess(args, env, connections) {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [, url] = await untilWritten(child, /serving MCP at (\S+)\n/);
  const { origin, pathname } = new URL(url);
  return { child, path: pathname, pool: new Pool(origin, { connections }) };
}

/** Sends a JSON body; returns the JSON of the response and its headers. */
export async function post({ pool }, path, message, headers = {}) {
  const response = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(message),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`HTTP ${response.statusCode}: ${text}`);
  return { headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
}

/** Ends the process, so that it writes its profile and ends its children. */
export async function stopHttpProcess({ child, pool }) {
  await pool.destroy();
  const closed = once(child, 'close');
  child.kill();
  await closed;
}

/** Waits until a process writes a text to standard error; returns the match. Later output is read and discarded. */
export function untilWritten(child, pattern) {
  return new Promise((resolve, reject) => {
    let output = '';
    const onClose = () => reject(new Error(`The process ended: ${output}`));
    const onData = (chunk) => {
      output += chunk;
      const match = pattern.exec(output);
      if (match === null) return;
      child.off('close', onClose);
      child.stderr.off('data', onData).resume();
      resolve(match);
    };
    child.once('close', onClose);
    child.stderr.on('data', onData);
  });
}
