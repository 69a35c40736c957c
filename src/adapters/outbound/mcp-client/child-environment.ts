import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { type Environment, GATEWAY_MARKER, PROXY_VARIABLES } from '../network/environment.ts';

interface ChildEnvironmentOptions {
  readonly environment: Environment;
  /** Names of further variables to inherit, or true for all. */
  readonly inherit: readonly string[] | true;
  readonly envs: Readonly<Record<string, string>>;
  /** The variables that contain our keys, which no child inherits. */
  readonly ownSecrets: readonly string[];
}

/** The environment of a child process: what the official SDK passes, the proxy variables, what is configured, and the mark of the gateway (ruling G2). */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const { environment, inherit, envs, ownSecrets } = options;
  const names = inherit === true ? Object.keys(environment) : [...PROXY_VARIABLES, 'NO_PROXY', 'no_proxy', ...inherit];
  const inherited = names
    .map((name) => [name, environment[name]] as const)
    .filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  const all = { ...getDefaultEnvironment(), ...Object.fromEntries(inherited) };
  const secrets = new Set(ownSecrets.map(comparable));
  const allowed = Object.entries(all).filter(([name]) => !secrets.has(comparable(name)));
  return { ...Object.fromEntries(allowed), ...envs, [GATEWAY_MARKER]: '1' };
}

/** On Windows, the case of a variable's name does not matter. */
function comparable(name: string): string {
  return process.platform === 'win32' ? name.toUpperCase() : name;
}
