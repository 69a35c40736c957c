import { isObject } from '../../../domain/json.ts';
import type { Values } from './keys.ts';

/** The names of the variables that contain the API key and the tokens of callers. */
export function secretVariables(values: Values): readonly string[] {
  const key = String(values.get('openai.api_key_env'));
  const tokens = values.get('http.token_env');
  return [key, `${key}_FILE`, 'MCP_HTTP_TOKEN', ...(isObject(tokens) ? Object.values(tokens) : [tokens])].filter(
    (name) => typeof name === 'string',
  );
}
