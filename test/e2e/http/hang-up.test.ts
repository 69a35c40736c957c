import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { posixTest } from '../../support/platform.ts';
import { BUILT_PROGRAM } from '../serve.ts';

/** Runs the program on a terminal, and closes the terminal once it serves. Prints the state in which the program ended. */
const ON_TERMINAL = `
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b''
while b'serving MCP' not in seen:
    seen += os.read(terminal, 1024)
os.close(terminal)
for _ in range(1000):
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        print('signal', os.WTERMSIG(status)) if os.WIFSIGNALED(status) else print('code', os.WEXITSTATUS(status))
        sys.exit()
    time.sleep(0.05)
os.kill(pid, 9)
print('still running')
`;

posixTest('moreSignals')('ends when its terminal is closed', async () => {
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent' };
  const args = ['-c', ON_TERMINAL, process.execPath, BUILT_PROGRAM, '--http=127.0.0.1:0', '--offline'];
  const python = spawn('python3', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(python, 'exit');
  expect(await text(python.stdout)).toBe('signal 1\n');
  await exited;
});
