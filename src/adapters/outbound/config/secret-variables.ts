import { isObject } from '../../../domain/json.ts';
import type { Values } from './keys.ts';

/** The names of the variables that contain the API key, the tokens of callers and the URL of the quota store. */
export function secretVariables(values: Values): readonly string[] {
  const key = String(values.get('openai.api_key_env'));
  const tokens = values.get('http.token_env');
  const named = isObject(tokens) ? Object.values(tokens) : [tokens];
  return [key, `${key}_FILE`, 'MCP_HTTP_TOKEN', 'MCP_HTTP_QUOTA_STORE', ...named].filter(
    (name) => typeof name === 'string',
  );
}
