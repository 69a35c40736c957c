import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { INSTALLED, type OwnCommand, quoted } from '../../../domain/gateway/own-command.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { attempted, expandPath, readText } from '../files/local-files.ts';
import { type Environment, variableText } from '../network/environment.ts';
import { type CommandLineOptions, optionTexts } from './set-keys.ts';

/** The options that decide which servers there are. Without them, an advised command would know other servers. */
const REPEATED = ['--config', '--servers'];

/**
 * How a person starts this program in any folder. `main` is the file with which it was started, as an absolute path: the name of the program is enough
 * only if `PATH` leads to this file.
 */
export function readOwnCommand(
  main: string | undefined,
  commandLine: CommandLineOptions,
  environment: Environment,
): OwnCommand {
  const options = REPEATED.flatMap((name) =>
    optionTexts(commandLine, name).map((path) => ` ${name} ${quoted(expandPath(path))}`),
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

const COMMAND = /(?:^|[\\/])openai-responses-mcp(?:\.(?:cmd|exe|ps1))?$/i;
/** Matches the package as `npx` takes it, the image, or the main file of an installation, but not a folder of the same name. */
const ARGUMENT =
  /^(?:--package=)?(?:(?:github:|ghcr\.io\/)uchimanajet7\/)?openai-responses-mcp(?:[@:#].*)?$|[\\/]openai-responses-mcp[\\/]build[\\/]index\.js$/;

/** Whether an entry starts this program. If it is started in another way, its environment shows that it is a server of itself. */
export function runsThisProgram({ command, args, cwd }: JsonObject, project: string): boolean {
  const texts = [command, args].flat().filter((text) => typeof text === 'string');
  // A shell gets a complete command line as one argument.
  const words = texts.flatMap((text) => [text, ...text.split(/\s+/)]);
  const folder = typeof cwd === 'string' ? expandPath(cwd, project) : project;
  return (
    COMMAND.test(texts[0] ?? '') || words.some((word) => ARGUMENT.test(word) || isInCheckout(expandPath(word, folder)))
  );
}

/** Whether a file is the main file of a checkout, whatever its folder is called. */
function isInCheckout(file: string): boolean {
  if (basename(file) !== 'index.js' || basename(dirname(file)) !== 'build') return false;
  const manifest = readText(join(dirname(file), '..', 'package.json'));
  const content = 'text' in manifest ? parseJson(manifest.text) : undefined;
  return isObject(content) && content.name === INSTALLED.program;
}
