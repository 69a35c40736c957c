import { accessSync, closeSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { openDebugFile } from '../logger/stderr-logger.ts';
import { faultOf } from './files.ts';
import { type Tree, valueAt } from './tree.ts';

/** What only shows once the layers are merged: keys that need each other, files that must be there. */
export function checkTogether(tree: Tree): readonly ConfigProblem[] {
  const isOffline = valueAt(tree, 'llm.adapter') === 'offline';
  const isDebug = valueAt(tree, 'server.debug') === true;
  return [
    ...check(tree, 'llm.recordings', (path) => (isOffline ? faultOfRecordings(path) : undefined)),
    ...check(tree, 'llm.record', (path) => faultOfRecord(path, isOffline)),
    ...check(tree, 'server.debug_file', (path) => (isDebug ? faultOfDebugFile(path) : undefined)),
  ];
}

/** The problem of a path, where it is configured; `accepts` says what would be right if it is not. */
function check(tree: Tree, where: string, accepts: (path: string) => string | undefined): readonly ConfigProblem[] {
  const path = valueAt(tree, where);
  const accepted = typeof path === 'string' ? accepts(path) : undefined;
  return typeof path === 'string' && accepted !== undefined ? [{ where, value: path, accepted }] : [];
}

function faultOfRecordings(path: string): string | undefined {
  const accepted = 'a folder of recordings, or one .json or .sse file';
  const fault = faultOf(() => accessSync(path, constants.R_OK));
  if (fault !== undefined) return `${accepted}, that can be read (${fault})`;
  return statSync(path).isDirectory() || /\.(?:json|sse)$/.test(path) ? undefined : accepted;
}

/** The folder is made when the first reply is recorded: a start leaves nothing behind. */
function faultOfRecord(path: string, isOffline: boolean): string | undefined {
  if (isOffline) return 'nothing while offline: only replies of the API are recorded';
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const fault = statSync(existing).isDirectory()
    ? faultOf(() => accessSync(existing, constants.W_OK))
    : `${existing} is no folder`;
  return fault === undefined ? undefined : `a folder that can be written to (${fault})`;
}

function faultOfDebugFile(path: string): string | undefined {
  const fault = faultOf(() => closeSync(openDebugFile(path)));
  return fault === undefined ? undefined : `a file that can be written to (${fault})`;
}
