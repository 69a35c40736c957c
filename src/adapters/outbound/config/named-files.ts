import { accessSync, closeSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { mergePolicy, systemPolicyIn } from '../../../domain/answers/system-policy.ts';
import { type ApprovedTools, parseLock } from '../../../domain/gateway/approved-tools.ts';
import { advised, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import { failureOf, readNonEmptyText, readText } from '../files/local-files.ts';
import { openDebugFile } from '../logger/stderr-logger.ts';
import type { ConfigTree } from './keys.ts';
import type { Report } from './problems.ts';

export interface Lock {
  readonly file: string;
  /** Undefined if the file is missing or damaged, and is only written. */
  readonly approved: ApprovedTools | undefined;
}

/** The file of `gateway.lock` and its approved tools, or a problem if it cannot be used. */
export function readLock(file: string, ownCommand: OwnCommand | undefined, report: Report): Lock {
  const content = readText(file);
  const approved = 'text' in content ? parseLock(content.text) : undefined;
  const reason = 'reason' in content ? content.reason : 'it is damaged, or of another version';
  const advice = `expected the approved tools (${reason}); write them with: ${advised('tools --lock', ownCommand)}`;
  if (approved === undefined) report('gateway.lock', advice, file);
  return { file, approved };
}

/** The system policy of the configured file, if there is one. Reports named files that cannot be used. */
export function readNamedFiles({ policy, llm, server }: ConfigTree, timeZone: string, report: Report) {
  const instructions = readPolicy(policy.system, timeZone, report);
  const isOffline = llm.adapter === 'offline';
  const check = (where: string, path: string | undefined, problemWith: (path: string) => string | undefined) => {
    const message = path === undefined ? undefined : problemWith(path);
    if (message !== undefined) report(where, message, path);
  };
  check('llm.recordings', isOffline ? llm.recordings : undefined, recordingsProblem);
  check('llm.record', llm.record, isOffline ? () => 'cannot be combined with offline mode' : recordProblem);
  check('server.debug_file', server.debug ? server.debugFile : undefined, debugFileProblem);
  return instructions;
}

function readPolicy({ source, path, merge }: ConfigTree['policy']['system'], timeZone: string, report: Report) {
  if (source !== 'file') {
    const message = 'has no effect unless policy.system.source is file';
    if (path !== undefined) report('policy.system.path', message, path);
    if (merge !== 'replace') report('policy.system.merge', message, merge);
    return undefined;
  }
  if (path === undefined) return void report('policy.system.path', 'required, because policy.system.source is file');
  const content = readNonEmptyText(path);
  if ('reason' in content)
    return void report('policy.system.path', `expected a policy file that can be read (${content.reason})`, path);
  return mergePolicy(content.text.replace(/\r\n?/g, '\n'), merge, systemPolicyIn(timeZone));
}

function recordingsProblem(path: string): string | undefined {
  const expected = 'expected a folder of recordings, or one .json or .sse file';
  const reason = failureOf(() => accessSync(path, constants.R_OK));
  if (reason !== undefined) return `${expected}, that can be read (${reason})`;
  return statSync(path).isDirectory() || /\.(?:json|sse)$/.test(path) ? undefined : expected;
}

/** The folder is created with the first recorded reply, so that starting leaves nothing on the disk. */
function recordProblem(path: string): string | undefined {
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const reason = statSync(existing).isDirectory()
    ? failureOf(() => accessSync(existing, constants.W_OK))
    : `${existing} is not a folder`;
  return reason === undefined ? undefined : `expected a folder that can be written to (${reason})`;
}

function debugFileProblem(path: string): string | undefined {
  const reason = failureOf(() => closeSync(openDebugFile(path)));
  return reason === undefined ? undefined : `expected a file that can be written to (${reason})`;
}
