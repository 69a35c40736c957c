import { AnswerTools, type AnswerToolsOptions } from '../adapters/inbound/mcp/answer-tools.ts';
import type { Application } from '../application/answers/application.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import type { Runtime } from './runtime.ts';

/**
 * The answer tools, as both transports offer them. The application is loaded with the first question; without grounding, nothing of it is
 * loaded (ruling L1).
 */
export async function createAnswerTools(
  runtime: Runtime,
  load: () => Promise<Application>,
  gateway: () => Gateway | undefined,
): Promise<AnswerTools> {
  const { grounding, timeZone, maxAnswerChars, server } = runtime.config;
  const { toolErrors } = server;
  let loaded: Application | undefined;
  const application: AnswerToolsOptions['application'] = {
    answerQuery: async (input, signal) => {
      // A question that is asked again must join its search before the first one is cancelled, which a client may do in its next message.
      loaded ??= await load();
      return loaded.answerQuery(input, signal);
    },
  };
  const options = { ...runtime, application, timeZone, maxAnswerChars, toolErrors };
  if (grounding === undefined) return new AnswerTools(options);
  const { mayHaveEffects } = await import('../domain/grounded/grounding.ts');
  return new AnswerTools({ ...options, hasEffects: () => mayHaveEffects(grounding, gateway()?.tools ?? []) });
}

/** What clients learn about answers that are not finished (ruling K23); undefined if there are none. */
export async function moreInstructions({ longAnswers, llm }: Runtime['config']): Promise<string | undefined> {
  if (longAnswers === undefined || llm.adapter === 'offline') return undefined;
  return (await import('../domain/answers/unfinished-answer.ts')).UNFINISHED_INSTRUCTIONS;
}
