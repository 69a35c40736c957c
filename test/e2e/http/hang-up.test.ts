import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { posixTest } from '../../support/platform.ts';
import { earlierServer } from '../../support/servers/asking-servers.ts';
import { newFile } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';

/** Runs the program on a terminal, and closes the terminal once it shows a text. Prints the state in which the program ended, and how many of its own processes are left. */
const ON_TERMINAL = `
import os, pty, subprocess, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen = b''
while sys.argv[1].encode() not in seen:
    seen += os.read(terminal, 1024)
children = subprocess.run(['pgrep', '-P', str(pid)], capture_output=True, text=True).stdout.split()
os.close(terminal)
for _ in range(1000):
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        print('signal', os.WTERMSIG(status)) if os.WIFSIGNALED(status) else print('code', os.WEXITSTATUS(status))
        left = [one for one in children if os.path.exists('/proc/' + one)]
        print(len(left), 'of', len(children))
        for one in left: os.kill(int(one), 9)
        sys.exit()
    time.sleep(0.05)
os.kill(pid, 9)
print('still running')
`;

async function closedAt(shown: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent' };
  const words = ['-c', ON_TERMINAL, shown, process.execPath, BUILT_PROGRAM, ...args];
  const python = spawn('python3', words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(python, 'exit');
  const printed = await text(python.stdout);
  await exited;
  return printed;
}

posixTest('moreSignals')('ends when its terminal is closed', async () => {
  expect(await closedAt('serving MCP', '--http=127.0.0.1:0', '--offline')).toBe('signal 1\n0 of 0\n');
});

// S81
posixTest('moreSignals')('ends with its server when the terminal of a question is closed', async () => {
  const config = newFile('config.json', JSON.stringify({ servers: [earlierServer('files')] }));
  expect(await closedAt('sure (y/n)', 'call', 'files', 'delete', '--config', config)).toBe('signal 1\n0 of 1\n');
});
