import { accessSync, closeSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { PolicyMerge } from '../../../domain/system-policy.ts';
import { openDebugFile } from '../logger/stderr-logger.ts';
import { readNonEmptyText, reasonOf } from './files.ts';
import type { Values } from './keys.ts';
import { toZone } from './time-zone.ts';

/** What the files contain that the configuration names, and problems with them. */
export interface NamedFiles {
  readonly instructions?: string;
  readonly problems: readonly ConfigProblem[];
}

export async function readFiles(values: Values): Promise<NamedFiles> {
  const policy = await readPolicy(values);
  return { ...policy, problems: [...policy.problems, ...checkPaths(values)] };
}

/** What replaces the built-in policy, if a file is configured (ruling 15). */
async function readPolicy(values: Values): Promise<NamedFiles> {
  const path = values.get('policy.system.path');
  const merge = values.get('policy.system.merge') as PolicyMerge;
  if (values.get('policy.system.source') !== 'file') {
    const unused = { path, merge: merge === 'replace' ? undefined : merge };
    const message = 'has no effect unless policy.system.source is file';
    const problems = Object.entries(unused)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ({ where: `policy.system.${key}`, value: String(value), message }));
    return { problems };
  }
  const problem = (rest: Omit<ConfigProblem, 'where'>) => ({ problems: [{ where: 'policy.system.path', ...rest }] });
  if (typeof path !== 'string') return problem({ message: 'required, because policy.system.source is file' });
  const content = readNonEmptyText(path);
  if ('text' in content) {
    const { mergePolicy, systemPolicyIn } = await import('../../../domain/system-policy.ts');
    const builtIn = systemPolicyIn(toZone(String(values.get('clock.time_zone'))));
    return { instructions: mergePolicy(content.text.replace(/\r\n?/g, '\n'), merge, builtIn), problems: [] };
  }
  return problem({ value: path, message: `expected a policy file that can be read (${content.reason})` });
}

/** Problems with the other paths, which depend on the mode. */
function checkPaths(values: Values): readonly ConfigProblem[] {
  const isOffline = values.get('llm.adapter') === 'offline';
  const isDebug = values.get('server.debug') === true;
  const checks: Readonly<Record<string, (path: string) => string | undefined>> = {
    'llm.recordings': (path) => (isOffline ? recordingsProblem(path) : undefined),
    'llm.record': (path) => (isOffline ? 'cannot be combined with offline mode' : recordProblem(path)),
    'server.debug_file': (path) => (isDebug ? debugFileProblem(path) : undefined),
  };
  return Object.entries(checks).flatMap(([where, messageFor]) => {
    const path = values.get(where);
    const message = typeof path === 'string' ? messageFor(path) : undefined;
    return message === undefined ? [] : [{ where, value: String(path), message }];
  });
}

function recordingsProblem(path: string): string | undefined {
  const expected = 'expected a folder of recordings, or one .json or .sse file';
  const reason = reasonOf(() => accessSync(path, constants.R_OK));
  if (reason !== undefined) return `${expected}, that can be read (${reason})`;
  return statSync(path).isDirectory() || /\.(?:json|sse)$/.test(path) ? undefined : expected;
}

/** The folder is created with the first recorded reply, so that starting leaves nothing on the disk. */
function recordProblem(path: string): string | undefined {
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const reason = statSync(existing).isDirectory()
    ? reasonOf(() => accessSync(existing, constants.W_OK))
    : `${existing} is not a folder`;
  return reason === undefined ? undefined : `expected a folder that can be written to (${reason})`;
}

function debugFileProblem(path: string): string | undefined {
  const reason = reasonOf(() => closeSync(openDebugFile(path)));
  return reason === undefined ? undefined : `expected a file that can be written to (${reason})`;
}
