// A child process that serves HTTP.
import { spawn } from 'node:child_process';
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

/** Requests per second. Each client sends its next request when it receives a response. */
export async function requestRate(ask, requests, clients) {
  let left = requests;
  const startedAt = performance.now();
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (requests / (performance.now() - startedAt)) * 1000;
}
