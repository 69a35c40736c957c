import { KeptApiKey } from '../adapters/outbound/openai/kept-api-key.ts';
import type { Runtime } from './runtime.ts';

/** The key of a file or a command; undefined if it is in a variable. */
export function composeApiKey({ config: { openai }, values, logger }: Runtime): KeptApiKey | undefined {
  const { apiKeySource: source, apiKeyVariable: variable } = openai;
  return source && new KeptApiKey({ variable, source, values, logger });
}
