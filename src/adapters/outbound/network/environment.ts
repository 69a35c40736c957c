import { MASK } from '../../../domain/values/redaction.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A text of the configuration, with the name of its variable. */
export type NamedText = readonly [name: string, text: string];

/** Set in the environment of every server that the gateway starts. If such a server is this program, it starts no servers, which could start it again. */
export const GATEWAY_MARKER = 'OPENAI_RESPONSES_MCP_GATEWAY';

/** The variables with the URLs of proxies, which servers inherit. */
export const PROXY_VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/** A variable's text without surrounding whitespace; '' if it is not set. An empty variable counts as not set. */
export function variableText(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

/** The name of a variable for display. A text that does not look like a name is masked, because it may be a pasted secret. */
export function shownName(name: string): string {
  return /^(?:[A-Z_][A-Z0-9_]*)?$/.test(name) ? name : MASK;
}
