import type { ConfigProblem } from '../../../application/ports/config.ts';

/** Every problem of a configuration, a line each (ruling 15). */
export function wordsForProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems.map((problem) => `  ${wordsForProblem(problem)}`);
  return `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines.join('\n')}\n`;
}

/** Where it stands, what came, what is accepted. */
export function wordsForProblem({ where, value, accepted }: ConfigProblem): string {
  return `${where}: ${value === undefined ? '' : `got ${JSON.stringify(value)}, `}expected ${accepted}`;
}
