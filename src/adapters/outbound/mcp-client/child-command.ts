import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, extname, resolve } from 'node:path';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { attempted } from '../files/local-files.ts';
import { type Environment, GATEWAY_MARKER, PROXY_VARIABLES } from '../network/environment.ts';

/** Variables that every program needs: those that the official SDK passes on and, on Windows, `COMSPEC`. */
const BASIC_VARIABLES = (
  process.platform === 'win32'
    ? 'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE WINDIR'
    : 'HOME LOGNAME PATH SHELL TERM USER'
).split(' ');
/** The locale, the time zone and the folder of temporary files. */
const PLACE_VARIABLES = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TMP|TEMP)$/;
/** What says to `docker`, and to servers that start it, where its daemon is and how it is reached. They contain no secrets. */
const DOCKER_VARIABLES =
  'DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS DOCKER_TLS_VERIFY DOCKER_API_VERSION DOCKER_DEFAULT_PLATFORM'.split(
    ' ',
  );
/** Variables that Node.js, OpenSSL and Python read about proxies, and about certificates of further authorities. */
const NETWORK_VARIABLES =
  'NO_PROXY no_proxy NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE'.split(' ');

interface ChildEnvironmentOptions {
  readonly environment: Environment;
  /** Names of further variables to inherit, or true for all. */
  readonly inherit: readonly string[] | true;
  readonly envs: Readonly<Record<string, string>>;
  /** The variables with keys of this program, which no child inherits. */
  readonly ownSecrets: readonly string[];
}

/** The environment of a child process: basic and network variables, those of its place and of Docker, further ones to inherit, `envs`, and the marker of the gateway. */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const { environment, inherit, envs, ownSecrets } = options;
  const place = Object.keys(environment).filter((name) => PLACE_VARIABLES.test(name));
  const few = [...BASIC_VARIABLES, ...PROXY_VARIABLES, ...NETWORK_VARIABLES, ...DOCKER_VARIABLES, ...place];
  const names = inherit === true ? Object.keys(environment) : [...few, ...inherit];
  const inherited = withoutUndefined(Object.fromEntries(names.map((name) => [name, environment[name]])));
  const secrets = new Set(ownSecrets.map(comparable));
  const allowed = Object.entries(inherited).filter(([name]) => !secrets.has(comparable(name)));
  return { ...Object.fromEntries(allowed), ...envs, [GATEWAY_MARKER]: '1' };
}

/** On Windows, the case of a variable's name does not matter. */
function comparable(name: string): string {
  return process.platform === 'win32' ? name.toUpperCase() : name;
}

interface Command {
  readonly command: string;
  readonly cwd: string;
  /** The environment in which it would run. */
  readonly env: Readonly<Record<string, string>>;
}

/** Why a command would not start; undefined if its program exists. Nothing is started, and its arguments are not looked at. */
export function commandProblem(given: Command, platform = process.platform): string | undefined {
  const { command, cwd } = given;
  if (attempted(() => statSync(cwd).isDirectory()) !== true) return `there is no folder ${cwd} (cwd)`;
  if (isFound(given, platform)) return undefined;
  if (hasArguments(given, platform))
    return `there is no command ${command}; put the arguments of the command into args`;
  return `there is no program ${command}${isPath(command, platform) ? ` in ${cwd}` : ' in the folders of PATH'}; install it, or check command and cwd`;
}

/** Whether a command that does not exist is a command with its arguments, rather than a path with blanks: `C:\\Program Files\\node.exe`. */
export function hasArguments(given: Command, platform = process.platform): boolean {
  const [first = '', ...others] = given.command.trim().split(/\s+/);
  return others.length > 0 && (!/[/\\]/.test(first) || isFound({ ...given, command: first }, platform));
}

function isFound({ command, cwd, env }: Command, platform: NodeJS.Platform): boolean {
  const folders = isPath(command, platform)
    ? [cwd]
    : (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const isComplete = platform !== 'win32' || extname(command) !== '';
  const endings = isComplete ? [''] : (env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';');
  return folders.some((folder) => endings.some((ending) => isProgram(resolve(cwd, folder, command + ending))));
}

function isPath(command: string, platform: NodeJS.Platform): boolean {
  return /[/\\]/.test(platform === 'win32' ? command : command.replaceAll('\\', ''));
}

function isProgram(file: string): boolean {
  const isFile = attempted(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  });
  return isFile === true;
}
