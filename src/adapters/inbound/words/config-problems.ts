import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { Logger } from '../../../application/ports/logger.ts';

/** All problems in a configuration, one line each. */
export function messageForProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems.map((problem) => `  ${messageForProblem(problem)}`);
  return `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}\n`;
}

/** Warns of what is not a reason to stop. */
export function logNotices(notices: readonly ConfigProblem[], logger: Logger): void {
  for (const notice of notices) logger.warn(messageForProblem(notice));
}

/**
 * The notices that concern a command: those about entries of the servers file only if it uses all servers, or this one (`server`). `hasServers`:
 * it uses some.
 */
export function noticesAbout(notices: readonly ConfigProblem[], hasServers: boolean, server?: string) {
  return notices.filter(({ where }) => {
    const [, entry] = /^(?:mcpServers|servers)\.(.*)/.exec(where) ?? [];
    if (entry === undefined) return true;
    return hasServers && (server === undefined || `${entry}.`.startsWith(`${server}.`));
  });
}

/** Where the problem is, the received value, and what is wrong or expected. */
export function messageForProblem({ where, value, message, file }: ConfigProblem): string {
  const received = value === undefined ? '' : `got ${JSON.stringify(value)}, `;
  return `${where}: ${received}${message}${file === undefined || file === where ? '' : ` (in ${file})`}`;
}

/** A name or pattern of `access` that gives nothing. */
export function unmatchedGrant(grant: { readonly caller: string; readonly server: string; readonly pattern: string }) {
  const { caller, server, pattern } = grant;
  return `access: no tool of ${server} has the name ${pattern} (access.${caller}.servers.${server})`;
}
