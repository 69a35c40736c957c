import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { newFolder } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';

interface LoginOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The PATH of the program, if its standard input, output and error are a terminal. */
  readonly terminalPath?: string;
}

export type SignInHome = Awaited<ReturnType<typeof newHome>>;

/** A home with a configuration of remote servers, by their names. Each has a callback at the same port, unless `auth` says something else. */
export async function newHome(urls: Readonly<Record<string, string>>, auth?: object) {
  const home = newFolder();
  const folder = path.join(home, '.config', 'openai-responses-mcp', 'logins');
  const config = path.join(home, 'config.yaml');
  const port = await freePort();
  const servers = Object.entries(urls).map(([name, url]) => ({ name, url, auth: auth ?? { callback_port: port } }));
  writeFileSync(config, JSON.stringify({ servers, llm: { adapter: 'offline' } }));
  return {
    home,
    servers,
    /** The folder of the logins. */
    folder,
    config,
    /** Where the issuer sends the browser. */
    callback: `http://127.0.0.1:${port}/callback`,
    run: (...args: readonly string[]) => runCli([...args, '--config', config], { env: { [HOME_VARIABLE]: home } }),
    login: (server: string, { args = [], env = {}, terminalPath }: LoginOptions = {}) => {
      const command = [process.execPath, BUILT_PROGRAM, 'login', server, '--config', config, ...args];
      const onTerminal = ['script', '-qec', `PATH=${terminalPath} ${command.join(' ')}`, '/dev/null'];
      const [program = '', ...rest] = terminalPath === undefined ? command : onTerminal;
      return waitingLogin(program, rest, { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: home, ...env });
    },
  };
}

/** `login`, while it waits for a person. */
function waitingLogin(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(program, args, { env });
  let [stdout, stderr] = ['', ''];
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const url = new Promise<string>((resolve, reject) => {
    const look = () => {
      const [, found] = /^(https?:\S+)\r?\n/m.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      look();
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (program !== 'script') return;
      stderr += text;
      look();
    });
    void exited.then(() => reject(new Error(`No URL was printed: ${stderr}`)));
  });
  url.catch(() => {});
  return {
    /** Resolves with the URL at which to sign in. */
    url,
    stdin: child.stdin,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** What was written to standard error until now; on a terminal, to standard output too. */
    stderr: () => stderr,
    ended: exited.then((code) => ({ code, stdout, stderr })),
  };
}

/** Opens a URL as a browser does; resolves with the status. */
export async function open(url: string): Promise<number> {
  const response = await fetch(url);
  await response.text();
  return response.status;
}
