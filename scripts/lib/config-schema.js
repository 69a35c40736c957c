const REPOSITORY = 'https://raw.githubusercontent.com/uchimanajet7/openai-responses-mcp/main';

/** The JSON Schema of the YAML file. Draft 7, because that is what editors support best. */
export function configSchema({ KEYS, SERVER_TABLE, accessEntry }) {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `${REPOSITORY}/config/config.schema.json`,
    title: 'Configuration of openai-responses-mcp',
    ...section(),
  };
  const values = {
    servers: { type: 'array', items: serverSchema(SERVER_TABLE) },
    access: { type: 'object', additionalProperties: orNull(accessEntry.schema) },
  };
  for (const key of KEYS) {
    const names = key.path.split('.');
    const last = names.pop();
    let parent = schema;
    for (const name of names) {
      parent.properties[name] ??= section();
      parent = parent.properties[name];
    }
    parent.properties[last] = keySchema(key, values[key.path]);
  }
  return schema;
}

function keySchema({ description, kind, variable, option, ...key }, known = kind.schema) {
  const { pattern, ...schema } = known;
  const setBy = [variable && ` Variable: ${variable}.`, option && ` Option: ${option}.`].filter(Boolean).join('');
  return {
    description: `${plain(description)}. Expected: ${kind.accepted}.${setBy}`,
    ...orNull(schema),
    // Editors show this message in place of the pattern.
    ...(pattern === undefined ? {} : { pattern, patternErrorMessage: `Expected: ${kind.accepted}.` }),
    ...(key.default === undefined ? {} : { default: key.default }),
  };
}

function serverSchema(table) {
  const absent = (...names) => Object.fromEntries(names.map((name) => [name, { type: 'null' }]));
  const present = (name) => ({ required: [name], properties: { [name]: { not: { type: 'null' } } } });
  const schemas = Object.entries(table).map(([name, { description, kind, absent, ...key }]) => {
    const fallback = absent === undefined && key.default !== undefined ? { default: key.default } : {};
    return [name, { description: plain(description), ...orNull(kind.schema), ...fallback }];
  });
  return {
    ...section(),
    type: 'object',
    properties: Object.fromEntries(schemas),
    allOf: [present('name'), LOGINS],
    if: present('command'),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: absent('url', 'transport', 'headers', 'allow_insecure', 'auth', 'login', 'max_connections'),
      not: { allOf: [present('env'), present('envs')] },
    },
    else: { allOf: [present('url')], properties: absent('args', 'cwd', 'envs', 'env', 'inherit_env') },
  };
}

/** What cannot be combined with a login for each caller, and what only with it. */
const LOGINS = {
  if: { required: ['login'], properties: { login: { const: 'per_caller' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    properties: {
      name: { not: { enum: ['caller', 'callback'] } },
      headers: { propertyNames: { not: { pattern: '^[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz][Aa][Tt][Ii][Oo][Nn]$' } } },
      auth: { not: { required: ['grant'], properties: { grant: { const: 'client_credentials' } } } },
    },
  },
  else: { properties: { max_connections: { type: 'null' } } },
};

function section() {
  return { type: ['object', 'null'], properties: {}, additionalProperties: false };
}

/** Also accepts null, because an empty key counts as absent. */
function orNull(schema) {
  if (schema.enum !== undefined) return { ...schema, enum: [...schema.enum, null] };
  if (schema.anyOf !== undefined) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'].flat() };
}

/** Converts Markdown to text that begins with a capital letter. */
function plain(markdown) {
  const text = markdown
    .replace(/ ?\(\[[^\]]*\]\([^)]*\)\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '');
  return text[0].toUpperCase() + text.slice(1);
}
