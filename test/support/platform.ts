import { describe, test } from 'vitest';

/** What a test needs, and why it cannot pass on Windows. */
const NEEDS = {
  signals: 'Windows ends a process that is sent a signal, before it can react',
  moreSignals: 'Windows knows only SIGINT, SIGTERM, SIGKILL and SIGQUIT',
  exitSignal: 'Windows does not report that a process was killed by another one',
  orphans: 'Windows does not report the end of a parent, nor find the children that it left',
  modes: 'Windows has no modes of files',
  owners: 'Windows has no owners of files as POSIX has them',
  links: 'Windows allows symbolic links only to some users',
  cleanEnvironment: 'Windows adds variables of its own to every process',
  shell: 'the test runs a script for a POSIX shell',
} as const;

type Need = keyof typeof NEEDS;

const isWindows = process.platform === 'win32';

/** The variable that names the home folder. */
export const HOME_VARIABLE = isWindows ? 'USERPROFILE' : 'HOME';

/** `test`, which is skipped on Windows and reports why. */
export function posixTest(need: Need) {
  return test.extend<{ posix: undefined }>({
    posix: [
      async ({ skip }, use) => {
        skip(isWindows, NEEDS[need]);
        await use(undefined);
      },
      { auto: true },
    ],
  });
}

/** `posixTest` for a test that gives files to another user, which only root can. */
export const ownersTest = process.getuid?.() === 0 ? posixTest('owners') : test.skip;

/** A user ID that no test has. */
export const OTHER_USER = 65534;

/** The same for a `describe` whose preparation cannot run on Windows either. */
export function posixDescribe(need: Need) {
  return (name: string, define: () => void) =>
    describe.skipIf(isWindows)(isWindows ? `${name} (${NEEDS[need]})` : name, define);
}
