import { AnswerTools } from '../adapters/inbound/mcp/answer-tools.ts';
import type { ServerDescription } from '../adapters/inbound/mcp/methods.ts';
import type { Application } from '../application/answers/application.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import type { Runtime } from './runtime.ts';
import type { Services } from './services.ts';
import { IDENTITY } from './version.ts';

/**
 * The answer tools, as both transports offer them, and what sessions offer beside them. The application is loaded with the first question;
 * without grounding, nothing of it is loaded (ruling L1).
 */
export async function createAnswerTools(
  runtime: Runtime,
  services: () => Promise<Services>,
  gateway: () => Gateway | undefined,
) {
  const { grounding, timeZone, maxAnswerChars, server, citationCheck } = runtime.config;
  let application: Application | undefined;
  const load = async () => {
    application ??= await (await services()).application();
    return application;
  };
  // What is loaded is not waited for: a question that is asked again must join its search before the first one is cancelled, which a client
  // may do in its next message.
  const answerQuery: Application['answerQuery'] = async (input, signal) =>
    (application ?? (await load())).answerQuery(input, signal);
  const long = await loadLong(runtime, load);
  const effects = grounding && (await import('../domain/grounded/grounding.ts'));
  const answerTools = new AnswerTools({
    ...runtime,
    application: { answerQuery },
    timeZone,
    maxAnswerChars,
    toolErrors: server.toolErrors,
    tasks: long.tasks,
    hasEvidence: citationCheck === 'evidence',
    hasEffects: effects && ((rights) => effects.mayHaveEffects(grounding, gateway()?.tools ?? [], rights)),
  });
  return { answerTools, long, application: () => application };
}

/** For answers that take minutes (rulings K14 and K23); nothing if there are none. */
async function loadLong(
  runtime: Runtime,
  load: () => Promise<Application>,
): Promise<Pick<ServerDescription, 'moreInstructions' | 'tasks'>> {
  const { longAnswers, llm, server } = runtime.config;
  if (longAnswers === undefined || llm.adapter === 'offline' || llm.record !== undefined) return {};
  const [{ Tasks }, { UNFINISHED_INSTRUCTIONS: moreInstructions }] = await Promise.all([
    import('../adapters/inbound/mcp/tasks.ts'),
    import('../domain/answers/unfinished-answer.ts'),
  ]);
  const { toolErrors } = server;
  return { moreInstructions, tasks: new Tasks({ ...runtime, load, longAnswers, toolErrors, serverInfo: IDENTITY }) };
}
