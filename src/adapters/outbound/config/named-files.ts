import { accessSync, closeSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openDebugFile } from '../logger/stderr-logger.ts';
import type { ConfigTree } from './config-tree.ts';
import { readNonEmptyText, reasonOf } from './files.ts';
import type { Report } from './problems.ts';

/** What replaces the built-in policy, if a file is configured (ruling 15). Reports what cannot be used of it and of other files. */
export async function readNamedFiles(config: ConfigTree, timeZone: string, report: Report) {
  const instructions = await readPolicy(config, timeZone, report);
  checkPaths(config, report);
  return instructions;
}

async function readPolicy({ policy: { system } }: ConfigTree, timeZone: string, report: Report) {
  const { source, path, merge } = system;
  if (source !== 'file') {
    const message = 'has no effect unless policy.system.source is file';
    if (path !== undefined) report('policy.system.path', message, path);
    if (merge !== 'replace') report('policy.system.merge', message, merge);
    return undefined;
  }
  const content = path === undefined ? undefined : readNonEmptyText(path);
  if (content === undefined) report('policy.system.path', 'required, because policy.system.source is file');
  else if ('reason' in content)
    report('policy.system.path', `expected a policy file that can be read (${content.reason})`, path);
  if (content === undefined || 'reason' in content) return undefined;
  const { mergePolicy, systemPolicyIn } = await import('../../../domain/answers/system-policy.ts');
  return mergePolicy(content.text.replace(/\r\n?/g, '\n'), merge, systemPolicyIn(timeZone));
}

/** Reports problems with the other paths, which depend on the mode. */
function checkPaths({ llm, server }: ConfigTree, report: Report): void {
  const isOffline = llm.adapter === 'offline';
  const check = (where: string, path: string | undefined, problemWith: (path: string) => string | undefined) => {
    const message = path === undefined ? undefined : problemWith(path);
    if (message !== undefined) report(where, message, path);
  };
  check('llm.recordings', isOffline ? llm.recordings : undefined, recordingsProblem);
  check('llm.record', llm.record, isOffline ? () => 'cannot be combined with offline mode' : recordProblem);
  check('server.debug_file', server.debug ? server.debugFile : undefined, debugFileProblem);
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
