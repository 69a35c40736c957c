import { passwordsOf } from '../network/addresses.ts';
import { type Environment, variableText } from '../network/environment.ts';
import type { ConfigTree } from './config-tree.ts';

/** The names of the variables that contain the API key, the tokens of callers and the URL of the quota store. */
export function secretVariables(config: ConfigTree): readonly string[] {
  const key = config.openai.apiKeyEnv;
  return [key, `${key}_FILE`, 'MCP_HTTP_QUOTA_STORE', ...tokenVariables(config)];
}

/** The tokens of callers, and the passwords for the quota store. */
export function httpSecrets(config: ConfigTree, environment: Environment): readonly string[] {
  const tokens = tokenVariables(config).map((name) => variableText(environment, name));
  return [...tokens, ...passwordsOf(config.http.quota.store)];
}

function tokenVariables({ http: { tokenEnv = {} } }: ConfigTree): readonly string[] {
  return ['MCP_HTTP_TOKEN', ...(typeof tokenEnv === 'string' ? [tokenEnv] : Object.values(tokenEnv))];
}

/** A secret as it is, and in base64. The redactor knows how JSON and URLs write a text. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}
