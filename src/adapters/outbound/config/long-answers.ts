import type { LongAnswersConfig } from '../../../application/ports/config.ts';
import { isToolName } from '../../../domain/answers/tool-name.ts';
import type { ConfigTree } from './config-tree.ts';
import type { Report } from './problems.ts';

const TOO_FEW_PLACES =
  'expected an integer, 2 or greater, because long_answers.tools (LONG_ANSWERS) is set: searches that no call waits for hold up to half of these places';

/** The section `long_answers` if it names tools (rulings K1 and K2). */
export function readLongAnswers({ longAnswers, request }: ConfigTree, report: Report): LongAnswersConfig {
  const { maxConcurrency } = request;
  if (maxConcurrency === 1) report('request.max_concurrency', TOO_FEW_PLACES, maxConcurrency);
  return { ...longAnswers, tools: longAnswers.tools.filter(isToolName) };
}
