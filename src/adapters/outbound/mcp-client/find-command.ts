import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, resolve } from 'node:path';
import { attempted } from '../files/local-files.ts';

interface Command {
  readonly command: string;
  readonly cwd: string;
  /** The environment in which it would run. */
  readonly env: Readonly<Record<string, string>>;
}

/** Why a command would not start; undefined if its program exists. Nothing is started, and its arguments are not looked at. */
export function commandProblem({ command, cwd, env }: Command, platform = process.platform): string | undefined {
  if (attempted(() => statSync(cwd).isDirectory()) !== true) return `there is no folder ${cwd} (cwd)`;
  const isPath = /[/\\]/.test(platform === 'win32' ? command : command.replaceAll('\\', ''));
  const folders = isPath ? [cwd] : (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const isComplete = platform !== 'win32' || extname(command) !== '';
  const endings = isComplete ? [''] : (env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';');
  const files = folders.flatMap((folder) => endings.map((ending) => resolve(cwd, folder, command + ending)));
  if (files.some(isProgram)) return undefined;
  if (/\s/.test(command)) return `there is no command ${command}; put the arguments of the command into args`;
  return `there is no program ${command}${isPath ? ` in ${cwd}` : ' in the folders of PATH'}; install it, or check command and cwd`;
}

function isProgram(file: string): boolean {
  const isFile = attempted(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  });
  return isFile === true;
}
