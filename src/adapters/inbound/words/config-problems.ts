import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { Logger } from '../../../application/ports/logger.ts';

/** All problems in a configuration, one line each. */
export function messageForProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems.map((problem) => `  ${messageForProblem(problem)}`);
  return `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}\n`;
}

/** Logs problems that do not prevent a start as warnings. */
export function logNotices(notices: readonly ConfigProblem[], logger: Logger): void {
  for (const notice of notices) logger.warn(messageForProblem(notice));
}

/**
 * Selects the notices that concern a command. Notices about an entry of `servers` or `mcpServers` concern it only if it uses servers
 * (`hasServers`): that of the entry (`server`), or all of them.
 */
export function noticesAbout(notices: readonly ConfigProblem[], hasServers: boolean, server?: string) {
  return notices.filter(({ where }) => {
    const [, entry] = /^(?:mcpServers|servers)\.(.*)/.exec(where) ?? [];
    if (entry === undefined) return true;
    return hasServers && (server === undefined || `${entry}.`.startsWith(`${server}.`));
  });
}

/** The place of the problem, the received value, and what is wrong or expected. */
export function messageForProblem({ where, value, message, file }: ConfigProblem): string {
  const received = value === undefined ? '' : `got ${JSON.stringify(value)}, `;
  return `${where}: ${received}${message}${file === undefined || file === where ? '' : ` (in ${file})`}`;
}

/** The message about a name or pattern in `access` that matches no tool. */
export function unmatchedGrant(grant: { readonly caller: string; readonly server: string; readonly pattern: string }) {
  const { caller, server, pattern } = grant;
  return `access: no tool of ${server} matches ${pattern} (access.${caller}.servers.${server})`;
}
