import { INSTALLED, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import { isObject } from '../../../domain/values/json.ts';

/** Messages about the process itself, on standard error. */
export const PROCESS = {
  waiting: ({ program }: OwnCommand) =>
    `Waiting for MCP messages from a client on standard input. Press Ctrl-C to stop. For help: ${program} --help\n`,
  badUsage: (problem: string, { program } = INSTALLED) => `${problem}\nTry ${program} --help\n`,
  noLock: (option: string) => `--${option} needs gateway.lock, the path of a file, in the configuration`,
  newToken: (caller: string) =>
    `The first line is the token. It is not stored and not shown again: give it to ${caller}. Add the second line, which has only its hash, to the file http.token_file.\n`,
  lostOutput: (code: string) =>
    `Cannot write to standard output (${code}); the output is lost. Redirect it elsewhere.\n`,
  nothingChecked: '--check: with --offline, nothing is checked.\n',
  missingFile:
    'A file of this program is missing: the program was updated while it ran, or its installation is incomplete. Restart it; if that does not help, install it again.',
};

/** The message for a part of the program that could not be loaded when it was first needed; undefined for any other exception. */
export function missingFileMessage(thrown: unknown): string | undefined {
  const isMissing = isObject(thrown) && /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(thrown.code));
  return isMissing ? PROCESS.missingFile : undefined;
}
