import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../support/mcp-process.ts';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { startModernServer } from '../../support/servers/remote-servers.ts';
import { newFolder } from '../files.ts';
import { serve } from '../serve.ts';
import { startGatewayProcess } from './serve-gateway.ts';

/** A command that prints the content of a file, and notes each run. */
function newVault() {
  const folder = newFolder();
  const [value, runs, script] = ['value', 'runs', 'op.mjs'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(
    script,
    `import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(runs)}, process.argv.slice(2).join(' ') + '\\n');
    process.stdout.write(readFileSync(${JSON.stringify(value)}, 'utf8'));`,
  );
  const put = (text: string) => writeFileSync(value, text);
  put('first-token-0123456789\n');
  return {
    folder,
    put,
    /** The arguments of each run. */
    runs: () => (existsSync(runs) ? readFileSync(runs, 'utf8').trimEnd().split('\n') : []),
    reference: (args = 'read') => `\${command:'${process.execPath}' '${script}' ${args}}`,
  };
}

const ref = (text: string) => `\${${text}}`;

function write(servers: readonly object[], folder = newFolder()): string {
  const config = path.join(folder, 'config.yaml');
  writeFileSync(config, JSON.stringify({ servers }));
  return config;
}

const child = (envs: object, more: object = {}) => ({
  name: 'files',
  command: process.execPath,
  args: [STDIO_SERVER, 'lists-all'],
  envs,
  ...more,
});

/** The variables of the server, as the result of its tool says them. */
async function environmentOf(config: string): Promise<readonly string[]> {
  const { stdout, stderr } = await runCli(['call', 'files', 'environment', '{}', '--json', '--config', config]);
  expect(stderr).toBe('');
  return stdout.split('\n').map((line) => line.trim().replace(/,$/, ''));
}

describe('a value of a server', () => {
  // S83
  test('comes from a file beside the configuration, or from a command in its folder, and is masked in results', async () => {
    const vault = newVault();
    const config = write(
      [
        child({
          TOKEN: vault.reference(),
          FILE: ref('file:./secret.txt'),
          SHORT: ref('file:short'),
          ALL: `x-${ref('file:short')}-y`,
        }),
      ],
      vault.folder,
    );
    writeFileSync(path.join(vault.folder, 'secret.txt'), 'the-secret-of-the-file\r\n');
    writeFileSync(path.join(vault.folder, 'short'), 'brief\n');
    expect(await environmentOf(config)).toEqual(
      expect.arrayContaining([
        '"TOKEN": "[redacted]"',
        '"FILE": "[redacted]"',
        '"SHORT": "brief"',
        '"ALL": "x-brief-y"',
      ]),
    );
  });

  test('of a variable is not read again as a reference', async () => {
    const vault = newVault();
    const config = write([child({ TOKEN: ref('OUTER') })]);
    const { stdout } = await runCli(['call', 'files', 'environment', '{}', '--json', '--config', config], {
      env: { OUTER: vault.reference() },
    });
    expect(stdout).not.toContain('first-token');
    expect(vault.runs()).toEqual([]);
  });

  test('is not read before the server is needed, and once for all servers', async () => {
    const vault = newVault();
    const servers = ['one', 'two'].map((name) => ({ ...child({ TOKEN: vault.reference() }), name }));
    const server = serve({ args: ['--expose', '--config', write(servers)] });
    await server.initialize();
    expect(vault.runs()).toEqual([]);
    await server.request('tools/list');
    await expect.poll(vault.runs).toEqual(['read']);
  });

  test('that cannot be read is reported without what the command printed', async () => {
    const fails = `\${command:'${process.execPath}' -e 'console.log("sk-printed"); console.error("not signed in"); process.exit(3)'}`;
    const { stdout, stderr } = await runCli(['tools', '--config', write([child({ TOKEN: fails })])]);
    expect(stdout).toContain(`the command ${process.execPath} failed (exit code 3): not signed in`);
    expect(stdout + stderr).not.toContain('sk-printed');
  });

  test('with a quotation that is not closed is a problem of the configuration', async () => {
    const { stderr, code } = await runCli(['tools', '--config', write([child({ TOKEN: ref("command:op 'read") })])]);
    expect(code).toBe(1);
    expect(stderr).toContain('servers[0].envs.TOKEN');
    expect(stderr).toContain('expected a command, such as');
  });

  test('is shown as its reference, of a command only the first word', async () => {
    const config = write([
      child({
        A: ref('command:op read op://dev/x'),
        B: ref('file:~/token'),
        C: 'literal',
        D: `k=${ref('command:op read y')}`,
      }),
      { name: 'far', url: 'https://far.example/mcp', headers: { Authorization: `Bearer ${ref('command:op read z')}` } },
    ]);
    const { stderr } = await runCli(['--show-config', '--config', config]);
    const { effective } = JSON.parse(stderr) as { effective: { servers: readonly Record<string, object>[] } };
    expect(effective.servers[0]?.envs).toEqual({
      A: ref('command:op …'),
      B: ref('file:~/token'),
      C: '[redacted]',
      D: `[redacted]${ref('command:op …')}`,
    });
    expect(effective.servers[1]?.headers).toEqual({ Authorization: `Bearer ${ref('command:op …')}` });
  });
});

describe('a header of a remote server', () => {
  async function open(rotates = true) {
    const vault = newVault();
    const remote = await startModernServer();
    let accepted = 'first-token-0123456789';
    remote.protect((request, response) => {
      if (request.headers.authorization === `Bearer ${accepted}`) return true;
      response.writeHead(401).end();
      return false;
    });
    const headers = { Authorization: `Bearer ${vault.reference()}` };
    const gateway = await startGatewayProcess([{ name: 'far', url: remote.url, headers }]);
    await gateway.untilState('far', 'available');
    const rotate = () => {
      accepted = 'second-token-0123456789';
      if (rotates) vault.put(accepted);
    };
    return { vault, remote, gateway, rotate };
  }

  test('is read once more after a 401, and the call is sent once more', async () => {
    const { vault, gateway, rotate } = await open();
    expect(vault.runs()).toEqual(['read']);
    rotate();
    const replies = await Promise.all([1, 2, 3].map((text) => gateway.call('far', 'echo', { text: `text ${text}` })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(vault.runs()).toEqual(['read', 'read']);
    expect(gateway.stderr()).not.toContain('token-0123456789');
  });

  test('that has not changed is not sent again', async () => {
    const { vault, remote, gateway, rotate } = await open(false);
    rotate();
    const before = remote.seen.filter(({ method }) => method === 'tools/call').length;
    expect((await gateway.call('far', 'echo', { text: 'x' })).status).not.toBe(200);
    expect(remote.seen.filter(({ method }) => method === 'tools/call').length - before).toBe(1);
    expect(vault.runs().length).toBeGreaterThan(1);
  });
});

describe('headersHelper of Claude Code', () => {
  async function open(printed: string) {
    const remote = await startModernServer();
    const folder = newFolder();
    writeFileSync(path.join(folder, 'helper.mjs'), printed);
    const server = { url: remote.url, headers: { 'X-Team': 'a' }, headersHelper: `'${process.execPath}' helper.mjs` };
    const file = path.join(folder, '.mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { far: server } }));
    return { remote, ...(await runCli(['tools', '--servers', file])) };
  }

  test('adds headers, which know the name and the URL of the server', async () => {
    const { remote, stdout, stderr } = await open(`const { env } = process;
      console.log(JSON.stringify({
        Authorization: 'Bearer ' + env.CLAUDE_CODE_MCP_SERVER_NAME + '-token-0123456789',
        'X-Url': env.CLAUDE_CODE_MCP_SERVER_URL,
      }));`);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^far: available/);
    expect(remote.seen.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer far-token-0123456789',
      'x-url': remote.url,
      'x-team': 'a',
    });
  });

  test('that prints no headers is an error of its server, without what it printed', async () => {
    const { stdout, stderr } = await open(`console.log('printed-secret');`);
    expect(stdout).toContain('headersHelper: expected a command that prints a JSON object of headers');
    expect(stdout + stderr).not.toContain('printed-secret');
  });
});

test('a reload reads a reference only if its text has changed', async () => {
  const vault = newVault();
  const gateway = await startGatewayProcess([child({ TOKEN: vault.reference('one') })]);
  await gateway.untilState('files', 'available');
  gateway.configure([child({ TOKEN: vault.reference('one') }), child({}, { name: 'more' })]);
  gateway.kill('SIGHUP');
  await gateway.untilState('more', 'available');
  expect(vault.runs()).toEqual(['one']);
  gateway.configure([child({ TOKEN: vault.reference('two') })]);
  gateway.kill('SIGHUP');
  await expect.poll(vault.runs).toEqual(['one', 'two']);
});

test('a server that starts again gets the value as it is now', async () => {
  const vault = newVault();
  const gateway = await startGatewayProcess([child({ TOKEN: vault.reference() })]);
  await gateway.untilState('files', 'available');
  await gateway.call('files', 'exit');
  await expect.poll(vault.runs).toEqual(['read', 'read']);
});
