import { accessSync, closeSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { openDebugFile } from '../logger/stderr-logger.ts';
import type { ConfigTree } from './config-tree.ts';
import { readNonEmptyText, reasonOf } from './files.ts';

/** What replaces the built-in policy, if a file is configured (ruling 15). */
export async function readPolicy({ source, path, merge }: ConfigTree['policy']['system'], timeZone: string) {
  const problem = (key: string, message: string, value?: string) => ({
    where: `policy.system.${key}`,
    message,
    ...(value !== undefined && { value }),
  });
  if (source !== 'file') {
    const message = 'has no effect unless policy.system.source is file';
    const problems = [
      ...(path === undefined ? [] : [problem('path', message, path)]),
      ...(merge === 'replace' ? [] : [problem('merge', message, merge)]),
    ];
    return { problems };
  }
  if (path === undefined) return { problems: [problem('path', 'required, because policy.system.source is file')] };
  const content = readNonEmptyText(path);
  if ('reason' in content)
    return { problems: [problem('path', `expected a policy file that can be read (${content.reason})`, path)] };
  const { mergePolicy, systemPolicyIn } = await import('../../../domain/system-policy.ts');
  const instructions = mergePolicy(content.text.replace(/\r\n?/g, '\n'), merge, systemPolicyIn(timeZone));
  return { instructions, problems: [] };
}

/** Problems with the other paths, which depend on the mode. */
export function pathProblems({ llm, server }: Pick<ConfigTree, 'llm' | 'server'>): readonly ConfigProblem[] {
  const isOffline = llm.adapter === 'offline';
  const check = (where: string, path: string | undefined, problemWith: (path: string) => string | undefined) => {
    const message = path === undefined ? undefined : problemWith(path);
    return path === undefined || message === undefined ? [] : [{ where, value: path, message }];
  };
  return [
    ...check('llm.recordings', isOffline ? llm.recordings : undefined, recordingsProblem),
    ...check('llm.record', llm.record, isOffline ? () => 'cannot be combined with offline mode' : recordProblem),
    ...check('server.debug_file', server.debug ? server.debugFile : undefined, debugFileProblem),
  ];
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
