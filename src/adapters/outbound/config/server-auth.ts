import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { toHttpUrl } from '../network/addresses.ts';
import { integer, matching, oneOf, type ReadContext, text, type ValueKind } from './kinds.ts';
import { AUTH_WORDS } from './member-words.ts';
import { membersOf, type Tree } from './table.ts';
import { scopes, secureUrl } from './value-kinds.ts';
import { isOneValue } from './value-references.ts';

const MACHINE = 'client_credentials' as const;

/** The ID of a client that publishes a document about itself. Kept as it is, because issuers compare it as a text. */
const metadataUrl = text(
  'an https:// URL with a path, without user and fragment',
  (text) => {
    const { protocol, username, password, pathname = '/' } = toHttpUrl(text) ?? {};
    const isPlain = /^[\x21\x22\x24-\x7E]+$/.test(text) && `${username}${password}` === '';
    return isPlain && protocol === 'https:' && pathname !== '/' ? text : undefined;
  },
  /^[Hh][Tt][Tt][Pp][Ss]:/,
);

/** The schema of a text that refers to variables. */
const REFERENCE = { type: 'string', pattern: '\\$\\{' };

const resource = text(
  'an absolute URI without fragment, or none',
  (text) => {
    const isUri = /^[a-z][a-z\d+.-]*:[\x21\x22\x24-\x7E]+$/i.test(text) && URL.canParse(text);
    return isUri || text === 'none' ? text : undefined;
  },
  /^(?:none$|[A-Za-z][A-Za-z0-9+.-]*:)/,
);

const VARIABLE = /^\s*\$\{([A-Za-z_][A-Za-z0-9_]*)\}\s*$/;

const anySecret = expanded(
  text(
    'only a reference: write \u0024{NAME} with the name of the variable that contains the secret, \u0024{file:PATH} or \u0024{command:WORDS}',
  ),
);
const clientSecret: ValueKind<string> = {
  ...anySecret,
  schema: { anyOf: [matching(VARIABLE), matching(/^\$\{(?:file|command):.+\}$/)] },
  fromYaml: (value, context) =>
    VARIABLE.test(String(value)) || isOneValue(String(value)) ? anySecret.fromYaml(value, context) : undefined,
  isSecret: true,
};

/** The keys of `auth`. Those without a default may be absent. */
const AUTH_TABLE = {
  grant: { kind: expanded(oneOf(['authorization_code', MACHINE])), default: 'authorization_code' },
  client_id: { kind: expanded(text('the ID of a registered client, in visible ASCII', /^[\x20-\x7E]+$/)) },
  client_secret: { kind: clientSecret },
  client_metadata_url: { kind: expanded(metadataUrl) },
  /** The authorization server, if no other may be used. */
  issuer: { kind: expanded(secureUrl) },
  /** Exactly these scopes are requested. */
  scopes: { kind: expanded(scopes) },
  /** The parameter `resource` of OAuth, sent as it is written. With `none`, it is omitted. */
  resource: { kind: expanded(resource) },
  callback_port: { kind: integer(1024, 65_535) },
};

/** How the gateway signs in to a remote server. */
export type ServerAuth = Tree<typeof AUTH_TABLE>;

const members = membersOf('a map of options for signing in; {} for the defaults', AUTH_TABLE, AUTH_WORDS);

/** The section `auth` of a server. If it is not a map, its value is not shown, because it may be a secret. */
export const auth: ValueKind<ServerAuth> = {
  ...members,
  fromYaml: (value, context) => {
    const read = members.fromYaml(value, context);
    if (read === undefined || !isObject(value)) return undefined;
    checkCombinations(value, read.grant === MACHINE, (name, message) =>
      context.report(`${context.where}.${name}`, message),
    );
    return read;
  },
  isSecret: true,
};

/** A kind whose texts may refer to variables. Problems show the references, not the values. */
function expanded<T>(kind: ValueKind<T>): ValueKind<T> {
  const fromYaml = (value: unknown, context: ReadContext) => {
    const { where, report, expand } = context;
    const replaced = (text: unknown, where: string) => (typeof text === 'string' ? expand(text, where, report) : text);
    const texts = Array.isArray(value) ? value.map((text, index) => replaced(text, `${where}[${index}]`)) : undefined;
    return kind.fromYaml(texts ?? replaced(value, where), context);
  };
  return { ...kind, schema: orReference(kind.schema), fromYaml };
}

function orReference(schema: JsonObject): JsonObject {
  return schema.type === 'array'
    ? { ...schema, items: { anyOf: [schema.items, REFERENCE] } }
    : { anyOf: [schema, REFERENCE] };
}

/** The name of the variable with the client secret of a server in YAML, if there is one. It is found first, because no server may inherit it. */
export function clientSecretVariable(server: unknown): string | undefined {
  const section = isObject(server) && isObject(server.auth) ? server.auth : {};
  return VARIABLE.exec(String(section.client_secret))?.[1];
}

/** Reports keys that are missing or without effect. */
function checkCombinations(value: JsonObject, isMachine: boolean, report: (name: string, message: string) => void) {
  const isSet = (name: keyof typeof AUTH_TABLE) => value[name] != null;
  // Without a configured issuer, the server itself would choose who gets the secret.
  if (isSet('client_secret') && !isSet('issuer'))
    report('issuer', 'required with client_secret; write the URL of the authorization server that knows this client');
  if (isMachine) {
    for (const name of ['client_id', 'client_secret'] as const)
      if (!isSet(name)) report(name, `required with grant: ${MACHINE}`);
    for (const name of ['client_metadata_url', 'callback_port'] as const)
      if (isSet(name)) report(name, `has no effect with grant: ${MACHINE}`);
    return;
  }
  if (isSet('client_secret') && !isSet('client_id')) report('client_id', 'required with client_secret');
  if (isSet('client_id') && isSet('client_metadata_url')) report('client_metadata_url', 'has no effect with client_id');
}
