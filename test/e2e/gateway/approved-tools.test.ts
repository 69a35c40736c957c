import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { BUILT_PROGRAM } from '../serve.ts';
import { configure } from './servers.ts';

/** A server, its file of approved tools, and what changes a description in that file. */
function configureLock() {
  const { config } = configure(['one'], { yaml: { gateway: { lock: 'tools.lock.json' } } });
  const file = path.join(path.dirname(config), 'tools.lock.json');
  const edit = (from: string, to: string) => writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
  const tools = (...args: string[]) => runCli(['tools', ...args, '--config', config]);
  return { config, file, edit, tools };
}

test('tools are approved, and compared with those that are', async () => {
  const { file, edit, tools } = configureLock();
  const missing = await tools('--diff', '--json');
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain(
    `expected the approved tools (ENOENT); write them with: node ${BUILT_PROGRAM} tools --lock --config`,
  );
  expect(await tools('--lock')).toMatchObject({ code: 0, stdout: `Approved 11 tools in ${file}.\n`, stderr: '' });
  edit('Says it again.', 'Says it\u200B.');
  expect(await tools('--diff')).toMatchObject({
    code: 1,
    stdout: 'changed one/echo\n  description:\n  - Says it<U+200B>.\n  + Says it again.\n',
    stderr: '',
  });
  expect((await tools()).stdout).toContain('one: available (stdio)\n  1 tool is not approved: echo (see: ');
});

test('without gateway.lock, there is nothing to compare with', async () => {
  const { config } = configure(['one']);
  const { code, stdout, stderr } = await runCli(['tools', '--diff', '--config', config]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^--diff needs gateway\.lock, /);
});

posixTest('moreSignals')('a changed tool is not called, until it is approved and the file is read again', async () => {
  const { config, edit, tools } = configureLock();
  await tools('--lock');
  edit('Says it again.', 'Says it.');
  const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  await expect.poll(() => http.stderr()).toContain('gateway: one: 1 tool is not approved: echo (see: ');
  const get = async (path: string) => (await send(new URL(path, http.url).href, { method: 'GET' })).text;
  const body = { server: 'one', toolName: 'echo', input: { message: 'hi' } };
  const call = () => send(new URL('/mcp/call', http.url).href, { body });
  const refused = await call();
  expect(refused.status).toBe(409);
  expect(JSON.parse(refused.text)).toMatchObject({
    error: { code: 'TOOL_CHANGED', details: { server: 'one', tool: 'echo', change: 'changed' } },
  });
  expect(await get('/mcp/tools')).not.toContain('"name":"echo"');
  expect(await get('/mcp/servers')).toContain('"tools":10,"changed":["echo"]');
  expect(await get('/metrics')).toContain('openai_responses_mcp_tools_changed{server="one"} 1');
  const logged = `WARN gateway: one: 1 tool is not approved: echo (see: node ${BUILT_PROGRAM} tools --diff --config ${config})`;
  await expect.poll(() => http.stderr().split(logged)).toHaveLength(2);

  edit('Says it.', 'Says it again.');
  http.kill('SIGHUP');
  await expect.poll(async () => (await call()).status).toBe(200);
  expect(await get('/metrics')).toContain('openai_responses_mcp_tools_changed{server="one"} 0');
});
