import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { INSTALLED, type OwnCommand, quoted } from '../../../domain/gateway/own-command.ts';
import { attempted, expandPath } from '../files/local-files.ts';
import { type Environment, variableText } from '../network/environment.ts';

/** The options that decide which servers there are. Without them, an advised command would know other servers. */
const REPEATED = ['--config', '--servers'];

/**
 * How a person starts this program in any folder. `main` is the file with which it was started, as an absolute path: the name of the program is enough
 * only if `PATH` leads to this file.
 */
export function readOwnCommand(
  main: string | undefined,
  commandLine: Readonly<Record<string, string>>,
  environment: Environment,
): OwnCommand {
  const options = REPEATED.filter((name) => name in commandLine).map(
    (name) => ` ${name} ${quoted(expandPath(commandLine[name] ?? ''))}`,
  );
  return { program: programOf(main, environment), options: options.join('') };
}

function programOf(main: string | undefined, environment: Environment): string {
  if (main === undefined || isInPath(main, environment)) return INSTALLED.program;
  // The cache of npx, whose files do not stay.
  if (/[\\/]_npx[\\/]/.test(main)) return `npx -y ${INSTALLED.program}`;
  return `node ${quoted(main)}`;
}

/** Whether a shell finds this program by its name. npm adds folders of packages to `PATH` only for the programs that it starts. */
function isInPath(main: string, environment: Environment): boolean {
  const target = realPath(main);
  if (target === undefined) return false;
  const folders = variableText(environment, 'PATH').split(delimiter);
  return folders
    .filter((folder) => folder !== '' && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
    .some((folder) => {
      // On Windows, npm writes a script in place of a link.
      const files = [INSTALLED.program, join('node_modules', INSTALLED.program, 'build', 'index.js')];
      return files.some((file) => realPath(join(folder, file)) === target);
    });
}

function realPath(file: string): string | undefined {
  return attempted(() => realpathSync(file));
}
