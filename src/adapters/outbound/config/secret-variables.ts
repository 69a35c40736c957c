import { isObject } from '../../../domain/json.ts';
import { type Environment, variableText } from './environment.ts';
import type { Values } from './keys.ts';
import { passwordsOf } from './secret-forms.ts';

/** The names of the variables that contain the API key, the tokens of callers and the URL of the quota store. */
export function secretVariables(values: Values): readonly string[] {
  const key = String(values.get('openai.api_key_env'));
  return [key, `${key}_FILE`, 'MCP_HTTP_QUOTA_STORE', ...tokenVariables(values)];
}

function tokenVariables(values: Values): readonly string[] {
  const tokens = values.get('http.token_env');
  const named = isObject(tokens) ? Object.values(tokens) : [tokens];
  return ['MCP_HTTP_TOKEN', ...named].filter((name) => typeof name === 'string');
}

/** The tokens of callers, and the passwords for the quota store. */
export function httpSecrets(values: Values, environment: Environment): readonly string[] {
  const tokens = tokenVariables(values).map((name) => variableText(environment, name));
  return [...tokens, ...passwordsOf(String(values.get('http.quota.store')))];
}
