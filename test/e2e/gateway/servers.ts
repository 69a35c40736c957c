import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { newFolder } from '../files.ts';

export interface Configured {
  /** The path of the YAML file. */
  readonly config: string;
  /** The PIDs of the processes of servers that were started so far. */
  readonly started: () => readonly number[];
}

interface Differences {
  /** Of the last server. */
  readonly last?: object;
  /** Of the file. */
  readonly yaml?: object;
}

/** A configuration with a server for each name. */
export function configure(names: readonly string[], { last = {}, yaml = {} }: Differences = {}): Configured {
  const folder = newFolder();
  const starts = path.join(folder, 'starts');
  const servers = names.map((name, index) => ({
    name,
    command: process.execPath,
    args: [STDIO_SERVER, '--tools=exposed'],
    envs: { STARTS: starts },
    ...(index === names.length - 1 ? last : {}),
  }));
  const config = path.join(folder, 'config.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ servers, ...yaml }));
  const read = () => (existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n').map(Number) : []);
  return { config, started: read };
}
