const text = { type: 'string', pattern: '\\S' };
const scalar = { type: ['string', 'number', 'boolean'] };
const orNull = (schema) => ({ ...schema, type: [schema.type, 'null'] });
const flag = { type: 'boolean' };
const texts = { type: 'object', additionalProperties: scalar };
const atLeast = (minimum) => ({ type: 'integer', minimum });
const listOf = (pattern) => ({ type: 'array', items: { type: 'string', pattern } });
const orVariable = (schema) => ({ anyOf: [schema, { type: 'string', pattern: '\\$\\{' }] });
const patterns = listOf('^(?!\\s*$)\\s*(?:\\*?[^*]+\\*?|\\*)\\s*$');

/** The keys of a server (`server-entry.ts`): their meaning and default in the documents, and the JSON Schema of their values. */
export const SERVER_KEYS = {
  name: {
    meaning:
      'unique; at most 32 letters, digits, `-` and `_`; not `__`, which separates server and tool in names over MCP',
    default: 'required',
    schema: {
      type: 'string',
      pattern: '^\\s*(?!openai-responses-mcp\\s*$)(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}\\s*$',
    },
  },
  command: { meaning: 'a program, which is started directly and never through a shell', schema: text },
  args: {
    meaning: 'its arguments, as a list',
    default: '`[]`',
    schema: { type: 'array', items: scalar },
  },
  cwd: { meaning: 'the folder in which it runs', default: 'the folder of the configuration', schema: text },
  envs: { meaning: 'environment variables, as a map', default: 'none', schema: texts },
  env: { meaning: 'the same as `envs`', default: 'none', schema: texts },
  inherit_env: {
    meaning:
      'more variables to inherit: a list of names, or `true` for all except our keys ([environment](#the-environment-of-a-server))',
    default: '`[]`',
    schema: { anyOf: [{ const: true }, listOf('^\\s*[A-Za-z_][A-Za-z0-9_]*\\s*$')] },
  },
  url: {
    meaning: 'the URL of a remote server; `http://` only for this machine, or with `allow_insecure`',
    schema: { type: 'string', pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?:|\\$\\{' },
  },
  transport: {
    meaning:
      '`http` (Streamable HTTP), `sse`, or `auto`: Streamable HTTP, and SSE if the server answers 400, 404 or 405 without a JSON-RPC error',
    default: '`auto`',
    schema: { enum: ['auto', 'http', 'sse'] },
  },
  headers: { meaning: 'headers of every request to a remote server, as a map', default: 'none', schema: texts },
  allow_insecure: { meaning: 'allows an `http://` URL of another machine', default: '`false`', schema: flag },
  auth: {
    meaning:
      'how to sign in to a remote server, as a map: `grant` (`authorization_code` or `client_credentials`), `client_id`, `client_secret` (only `\u0024{NAME}`), `client_metadata_url`, `issuer`, `scopes`, `resource` (a URI or `none`), `callback_port`; all are optional',
    default: 'none',
    schema: {
      type: 'object',
      properties: {
        grant: orVariable({ enum: ['authorization_code', 'client_credentials', null] }),
        client_id: orNull(text),
        client_secret: orNull({ type: 'string', pattern: '^\\s*\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}\\s*$' }),
        client_metadata_url: orNull({ type: 'string', pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]:|\\$\\{' }),
        issuer: orNull({ type: 'string', pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?:|\\$\\{' }),
        scopes: orNull(listOf('^\\s*[\\x21\\x23-\\x5B\\x5D-\\x7E]+\\s*$|\\$\\{')),
        resource: orNull({ type: 'string', pattern: '^\\s*(?:none\\s*$|[A-Za-z][A-Za-z0-9+.-]*:)|\\$\\{' }),
        callback_port: orNull({ type: 'integer', minimum: 1024, maximum: 65_535 }),
      },
      additionalProperties: false,
    },
  },
  timeout: {
    meaning: 'limit of a call in ms, waits included',
    default: '`DEFAULT_TIMEOUT`, or `30000`',
    schema: atLeast(1),
  },
  startup_timeout: {
    meaning: 'limit of a start in ms, until the list of tools is known; a cold `npx` is slow',
    default: '`60000`',
    schema: atLeast(1),
  },
  restart: {
    meaning: '`on-failure`, or `never`',
    default: '`on-failure`',
    schema: { enum: ['on-failure', 'never'] },
  },
  required: {
    meaning: 'whether `/readyz` reports ready only while this server is available',
    default: '`false`',
    schema: flag,
  },
  tools: {
    meaning:
      '`allow` and `deny`: lists of names, with `*` at either end for any text; a tool in both lists is denied; `rename`, `describe` and `read_only` ([other names](#other-names-and-descriptions))',
    default: 'all tools',
    schema: {
      type: 'object',
      properties: {
        allow: patterns,
        deny: patterns,
        rename: { type: 'object', additionalProperties: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' } },
        describe: { type: 'object', additionalProperties: { type: 'string', minLength: 1, maxLength: 4096 } },
        read_only: patterns,
      },
      additionalProperties: false,
    },
  },
  max_concurrency: {
    meaning: 'calls that run on the server at the same time; as many again of each caller wait, and others get 429',
    default: '`64`',
    schema: atLeast(1),
  },
  max_response_bytes: {
    meaning: 'maximum size of a response, 1024 or greater',
    default: '`10485760`',
    schema: atLeast(1024),
  },
  public: {
    meaning:
      'its tools return nothing private (documentation, weather), see [grounded answers](grounded-answers.md#the-web)',
    default: '`false`',
    schema: flag,
  },
};
