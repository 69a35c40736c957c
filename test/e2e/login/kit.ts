import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { type CliResult, runCli } from '../../support/run-cli.ts';
import { newFolder } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';

/** `login`, while it waits for a person. */
export interface WaitingLogin {
  /** Resolves with the URL at which to sign in. */
  readonly url: Promise<string>;
  readonly stdin: Writable;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** What was written to standard error until now; on a terminal, to standard output too. */
  readonly stderr: () => string;
  readonly ended: Promise<Pick<CliResult, 'code' | 'stdout' | 'stderr'>>;
}

interface LoginOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The PATH of the program, if its standard input, output and error are a terminal. */
  readonly terminalPath?: string;
}

/** A home with a configuration of remote servers, by their names. */
export interface SignInHome {
  readonly home: string;
  readonly servers: readonly object[];
  /** The folder of the logins. */
  readonly folder: string;
  readonly config: string;
  /** Where the issuer sends the browser. */
  readonly callback: string;
  readonly run: (...args: readonly string[]) => Promise<CliResult>;
  readonly login: (server: string, options?: LoginOptions) => WaitingLogin;
}

/** Each server has a callback at the same port, unless `auth` says something else. */
export async function newHome(urls: Readonly<Record<string, string>>, auth?: object): Promise<SignInHome> {
  const home = newFolder();
  const folder = path.join(home, '.config', 'openai-responses-mcp', 'logins');
  const config = path.join(home, 'config.yaml');
  const port = await freePort();
  const servers = Object.entries(urls).map(([name, url]) => ({ name, url, auth: auth ?? { callback_port: port } }));
  writeFileSync(config, JSON.stringify({ servers }));
  return {
    home,
    servers,
    folder,
    config,
    callback: `http://127.0.0.1:${port}/callback`,
    run: (...args) => runCli([...args, '--config', config], { env: { [HOME_VARIABLE]: home } }),
    login: (server, { args = [], env = {}, terminalPath } = {}) => {
      const command = [process.execPath, BUILT_PROGRAM, 'login', server, '--config', config, ...args];
      const onTerminal = ['script', '-qec', `PATH=${terminalPath} ${command.join(' ')}`, '/dev/null'];
      const [program = '', ...rest] = terminalPath === undefined ? command : onTerminal;
      return waitingLogin(program, rest, { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: home, ...env });
    },
  };
}

function waitingLogin(program: string, args: readonly string[], env: Readonly<Record<string, string>>): WaitingLogin {
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
    url,
    stdin: child.stdin,
    kill: (signal) => child.kill(signal),
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
