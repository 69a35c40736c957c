import { AnswerTools, type AnswerToolsOptions } from '../adapters/inbound/mcp/answer-tools.ts';
import type { ServerDescription } from '../adapters/inbound/mcp/methods.ts';
import type { TaskExtension } from '../adapters/inbound/mcp/tool-set.ts';
import type { Application } from '../application/answers/application.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import type { Runtime } from './runtime.ts';
import { PROGRAM, VERSION } from './version.ts';

export const SERVER_INFO = { name: PROGRAM, version: VERSION };

/**
 * The answer tools, as both transports offer them. The application is loaded with the first question; without grounding, nothing of it is
 * loaded (ruling L1).
 */
export async function createAnswerTools(
  runtime: Runtime,
  load: () => Promise<Application>,
  gateway: () => Gateway | undefined,
  tasks: TaskExtension | undefined,
): Promise<AnswerTools> {
  const { grounding, timeZone, maxAnswerChars, server, citationCheck } = runtime.config;
  const { toolErrors } = server;
  const hasEvidence = citationCheck === 'evidence';
  let loaded: Application | undefined;
  const application: AnswerToolsOptions['application'] = {
    answerQuery: async (input, signal) => {
      // A question that is asked again must join its search before the first one is cancelled, which a client may do in its next message.
      loaded ??= await load();
      return loaded.answerQuery(input, signal);
    },
  };
  const options = { ...runtime, application, timeZone, maxAnswerChars, toolErrors, tasks, hasEvidence };
  if (grounding === undefined) return new AnswerTools(options);
  const { mayHaveEffects } = await import('../domain/grounded/grounding.ts');
  return new AnswerTools({ ...options, hasEffects: () => mayHaveEffects(grounding, gateway()?.tools ?? []) });
}

/** What sessions offer beside tools, for answers that take minutes (rulings K14 and K23); nothing if there are none. */
export async function longAnswerParts(
  runtime: Runtime,
  load: () => Promise<Application>,
): Promise<Pick<ServerDescription, 'moreInstructions' | 'tasks'>> {
  const { longAnswers, llm, server } = runtime.config;
  if (longAnswers === undefined || llm.adapter === 'offline' || llm.record !== undefined) return {};
  const [{ UNFINISHED_INSTRUCTIONS }, { Tasks }] = await Promise.all([
    import('../domain/answers/unfinished-answer.ts'),
    import('../adapters/inbound/mcp/tasks.ts'),
  ]);
  const { toolErrors } = server;
  const tasks = new Tasks({ ...runtime, load, longAnswers, toolErrors, serverInfo: SERVER_INFO });
  return { moreInstructions: UNFINISHED_INSTRUCTIONS, tasks };
}
