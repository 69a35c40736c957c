import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { newFolder } from '../files.ts';

const SCRIPT = fileURLToPath(new URL('../../support/exposed-tools-server.js', import.meta.url));

export interface Configured {
  /** The path of the YAML file. */
  readonly config: string;
  /** The PIDs of the processes of servers that were started so far. */
  readonly started: () => readonly number[];
}

/** A configuration with a server for each name. `over` is added to the first one, `yaml` to the file. */
export function configure(
  names: readonly string[],
  { over = {}, count = 0, yaml = {} }: { readonly over?: object; readonly count?: number; readonly yaml?: object } = {},
): Configured {
  const folder = newFolder();
  const starts = path.join(folder, 'starts');
  const servers = names.map((name, index) => ({
    name,
    command: process.execPath,
    args: [SCRIPT],
    envs: { STARTS: starts, COUNT: count },
    ...(index === 0 ? over : {}),
  }));
  const config = path.join(folder, 'config.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ servers, ...yaml }));
  const read = () => (existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n').map(Number) : []);
  return { config, started: read };
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
