import { AnswerTools, type AnswerToolsOptions } from '../adapters/inbound/mcp/answer-tools.ts';
import type { Gateway } from '../application/gateway.ts';
import type { Runtime } from './runtime.ts';

/** The answer tools, as both transports offer them. Without grounding, nothing of it is loaded (ruling L1). */
export async function createAnswerTools(
  runtime: Runtime,
  application: AnswerToolsOptions['application'],
  gateway: () => Gateway | undefined,
): Promise<AnswerTools> {
  const { grounding, timeZone, maxAnswerChars, server } = runtime.config;
  const { toolErrors } = server;
  const options = { ...runtime, application, timeZone, maxAnswerChars, toolErrors };
  if (grounding === undefined) return new AnswerTools(options);
  const { mayHaveEffects } = await import('../domain/grounding.ts');
  return new AnswerTools({ ...options, hasEffects: () => mayHaveEffects(grounding, gateway()?.tools ?? []) });
}
