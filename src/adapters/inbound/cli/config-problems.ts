import type { ConfigProblem } from '../../../application/ports/config.ts';

/** Every problem of a configuration, a line each: where it stands, what came, what is accepted (ruling 15). */
export function wordsForProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems.map(({ where, value, accepted }) => {
    const came = value === undefined ? '' : `got ${JSON.stringify(value)}, `;
    return `  ${where}: ${came}expected ${accepted}`;
  });
  return `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}\n`;
}
