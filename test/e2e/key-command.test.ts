import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { answers, fails } from '../support/behaviours.ts';
import { runCli } from '../support/mcp-process.ts';
import { newFile, newFolder } from './files.ts';
import { answerOf, failureOf, fakeApi, serve } from './serve.ts';

const FIRST = 'eyJ0-first-token-of-entra-0123456789';
const SECOND = 'eyJ0-second-token-of-entra-0123456789';

/** A fake `az` that prints a token which expires, and notes each run. */
function newAz() {
  const folder = newFolder();
  const at = (name: string) => path.join(folder, name);
  writeFileSync(
    at('az.mjs'),
    `import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(at('runs'))}, process.argv.slice(2).join(' ') + '\\n');
    console.log(readFileSync(${JSON.stringify(at('token'))}, 'utf8'));`,
  );
  const put = (token: string) => writeFileSync(at('token'), token);
  put(FIRST);
  const words = 'account get-access-token --query accessToken -o tsv';
  return {
    put,
    command: `'${process.execPath}' '${at('az.mjs')}' ${words}`,
    words,
    runs: () => (existsSync(at('runs')) ? readFileSync(at('runs'), 'utf8').trim().split('\n') : []),
  };
}

const ask = { query: 'What is the weather today?' };

/** The program with a fake `az` for the key, and an API that accepts one token. */
async function open() {
  const az = newAz();
  const api = await fakeApi();
  let accepted = FIRST;
  api.replyWith(({ headers }) =>
    headers.authorization === `Bearer ${accepted}`
      ? answers('It is sunny.')
      : fails({ status: 401, error: { message: 'The token has expired.', code: '401' } }),
  );
  const env = { OPENAI_API_KEY_COMMAND: az.command, OPENAI_BASE_URL: api.url };
  const expire = (token = SECOND) => {
    accepted = SECOND;
    az.put(token);
  };
  return { az, api, env, expire };
}

async function serveWith(env: Readonly<Record<string, string>>) {
  const server = serve({ env });
  await server.initialize();
  return server;
}

describe('OPENAI_API_KEY_COMMAND', () => {
  test('runs once with the first questions, and not at the start', async () => {
    const { az, api, env } = await open();
    const server = await serveWith(env);
    const { result } = await server.request('tools/list');
    expect(JSON.stringify(result)).toContain('answer_quick');
    expect(az.runs()).toEqual([]);
    const all = await Promise.all([1, 2, 3].map((id) => server.callTool('answer', ask, undefined, `call ${id}`)));
    expect(all.map((one) => answerOf(one).answer)).toEqual(Array(3).fill('It is sunny.'));
    expect(az.runs()).toEqual([az.words]);
    expect(api.requests.every(({ headers }) => headers.authorization === `Bearer ${FIRST}`)).toBe(true);
  });

  test('runs once more after a 401, which is no retry', async () => {
    const { az, api, env, expire } = await open();
    const server = await serveWith({ ...env, OPENAI_MAX_RETRIES: '0' });
    await server.callTool('answer', ask);
    expire();
    const all = await Promise.all([1, 2].map((id) => server.callTool('answer', ask, undefined, `call ${id}`)));
    expect(all.map((one) => answerOf(one).answer)).toEqual(['It is sunny.', 'It is sunny.']);
    expect(az.runs()).toHaveLength(2);
    await server.callTool('answer', ask);
    expect(az.runs()).toHaveLength(2);
    expect(api.requests.at(-1)?.headers.authorization).toBe(`Bearer ${SECOND}`);
  });

  test('a request is not sent again with the same key', async () => {
    const { api, env, expire } = await open();
    const server = await serveWith(env);
    expire(FIRST);
    expect(failureOf(await server.callTool('answer', ask))).toContain('OPENAI_API_KEY_COMMAND');
    expect(api.requests).toHaveLength(1);
  });

  test('a failure says why, without what was printed', async () => {
    const { env } = await open();
    const script = 'console.log("sk-printed"); console.error("Please run az login"); process.exitCode = 1';
    const server = await serveWith({ ...env, OPENAI_API_KEY_COMMAND: `'${process.execPath}' -e '${script}'` });
    const failure = failureOf(await server.callTool('answer', ask));
    expect(failure).toContain('failed (exit code 1): Please run az login.');
    expect(failure).not.toContain('sk-printed');
  });

  test('doctor reads the key once, and names its source', async () => {
    const { az, env } = await open();
    const { stdout } = await runCli(['doctor'], { env });
    expect(stdout).toContain(`key: found (command ${process.execPath})`);
    expect(az.runs()).toHaveLength(1);
    const offline = await runCli(['doctor', '--offline'], { env });
    expect(offline.stdout).toContain('was not run (--offline)');
    expect(az.runs()).toHaveLength(1);
  });

  test('the key is masked in answers and logs', async () => {
    const { api, env } = await open();
    api.replyWith(() => answers(`The key is ${FIRST}.`));
    const { stdout, stderr } = await runCli(['ask', '--debug', 'Which key?'], { env });
    expect(stdout).toContain('The key is [redacted].');
    expect(stderr).not.toContain(FIRST);
  });
});

test('a key file is read once more after a 401', async () => {
  const { api, expire } = await open();
  const file = newFile('key', FIRST);
  const server = await serveWith({ OPENAI_API_KEY_FILE: file, OPENAI_BASE_URL: api.url });
  await server.callTool('answer', ask);
  expire();
  writeFileSync(file, `"${SECOND}"\n`);
  expect(answerOf(await server.callTool('answer', ask)).answer).toBe('It is sunny.');
  expect(server.stderr()).toContain('quotation marks');
});
