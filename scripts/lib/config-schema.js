import { KEY_DESCRIPTIONS } from './key-descriptions.js';
import { SERVER_KEYS } from './server-keys.js';

const REPOSITORY = 'https://raw.githubusercontent.com/uchimanajet7/openai-responses-mcp/main';
const ANSWER_TOOL = matching(/^(?:answer|answer_detailed|answer_quick)$/);
const texts = { type: 'array', items: { type: 'string' } };
const variable = matching(/^[A-Za-z_][A-Za-z0-9_]*$/);
const CALLER = /^[\w.@-]+$/;
/** With those whose names come from an authorization server. */
const ANY_CALLER = /^(?:[\w.@-]+|oauth:[\w.@|:/+=~#-]+)$/;

/** The JSON Schema of the kinds in value-kinds.ts that do not say it. Where a pattern cannot say what is accepted, it accepts more. */
const SCHEMAS = {
  answerTools: () => ({ type: 'array', items: ANSWER_TOOL }),
  flag: () => ({ type: 'boolean' }),
  debugFlag: () => ({ type: 'boolean' }),
  baseUrl: () => matching(/^[Hh][Tt][Tt][Pp][Ss]?:/),
  hostNames: () => texts,
  requestHosts: () => texts,
  origins: () => texts,
  hostPort: () => ({ type: ['string', 'integer'], pattern: '\\S', minimum: 0, maximum: 65_535 }),
  timeZone: () => matching(/^[A-Za-z]/),
  callers: () => ({ type: 'array', items: matching(ANY_CALLER) }),
  secureUrl: () => matching(/^[Hh][Tt][Tt][Pp][Ss]?:/),
  scopes: () => ({ type: 'array', items: matching(/^[\x21\x23-\x5B\x5D-\x7E]+$/) }),
  exposure: () => ({ enum: [true, false, 'search', 'auto'] }),
  toolPatterns: () => ({ type: 'array', items: matching(/^\s*[^/\s]+\/(?:\*?[^*]+\*?|\*)\s*$/) }),
  groundedTools: () => ({
    type: 'object',
    additionalProperties: { anyOf: [{ const: 'all' }, { type: 'array', items: { type: 'string', minLength: 1 } }] },
  }),
  tokenVariables: () => ({
    anyOf: [
      variable,
      { type: 'object', propertyNames: { pattern: CALLER.source }, additionalProperties: variable, minProperties: 1 },
    ],
  }),
  quotaStore: () => matching(/^(?:memory|rediss?:\/\/.*)$/),
  quotaCallers: () => {
    const limit = { type: 'integer', minimum: 0 };
    const properties = { calls_per_day: limit, searches_per_day: limit, tokens_per_day: limit };
    return {
      type: 'object',
      propertyNames: { pattern: ANY_CALLER.source },
      additionalProperties: { type: 'object', properties, additionalProperties: false },
    };
  },
  servers: () => ({ type: 'array', items: serverSchema() }),
  access: () => ({ type: 'object', additionalProperties: accessEntrySchema() }),
};

/** The JSON Schema of the YAML file. Draft 7, because that is what editors support best. */
export function configSchema({ KEYS, kinds }) {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `${REPOSITORY}/config/config.schema.json`,
    title: 'Configuration of openai-responses-mcp',
    ...section(),
  };
  for (const key of KEYS) {
    const names = key.path.split('.');
    const last = names.pop();
    let parent = schema;
    for (const name of names) {
      parent.properties[name] ??= section();
      parent = parent.properties[name];
    }
    parent.properties[last] = keySchema(key, kinds);
  }
  return schema;
}

function keySchema({ path, kind, variable, option, ...key }, kinds) {
  const { accepted } = kind;
  const known = schemaOf(kind, kinds);
  if (known === undefined) throw new Error(`${path}: scripts/lib/config-schema.js has no schema for ${accepted}`);
  const { pattern, ...schema } = known;
  const setBy = [variable && ` Variable: ${variable}.`, option && ` Option: ${option}.`].filter(Boolean).join('');
  return {
    description: `${plain(descriptionOf(path))}. Expected: ${accepted}.${setBy}`,
    ...orNull(schema),
    // Editors show it in place of the pattern.
    ...(pattern === undefined ? {} : { pattern, patternErrorMessage: `Expected: ${accepted}.` }),
    ...(key.default === undefined ? {} : { default: key.default }),
  };
}

function schemaOf(kind, kinds) {
  if (kind.range !== undefined) return { type: 'integer', ...kind.range };
  if (kind.choices !== undefined) return { enum: kind.choices };
  if (kind.pattern !== undefined) return matching(kind.pattern);
  const [name] = Object.entries(kinds).find(([, known]) => known === kind) ?? [];
  return SCHEMAS[name]?.();
}

/** What a key is for, in Markdown. The profiles have the same keys. */
export function descriptionOf(path) {
  const description = KEY_DESCRIPTIONS[path.replace(/^(model_profiles)\.\w+\./, '$1.answer.')];
  if (description === undefined) throw new Error(`${path} has no description in scripts/lib/key-descriptions.js`);
  return description;
}

function accessEntrySchema() {
  const names = { type: 'array', items: { type: 'string', pattern: '^(\\*?[^*]+\\*?|\\*)$' } };
  const grant = { anyOf: [{ enum: ['all', 'read_only', null] }, names] };
  return {
    ...section(),
    properties: {
      servers: { anyOf: [{ enum: ['all', null] }, { type: 'object', additionalProperties: grant }] },
      answers: { anyOf: [{ type: ['boolean', 'null'] }, { type: 'array', items: ANSWER_TOOL }] },
      operator: { type: ['boolean', 'null'] },
    },
  };
}

function serverSchema() {
  const absent = (...names) => Object.fromEntries(names.map((name) => [name, { type: 'null' }]));
  const present = (name) => ({ required: [name], properties: { [name]: { not: { type: 'null' } } } });
  return {
    ...section(),
    type: 'object',
    properties: Object.fromEntries(Object.entries(SERVER_KEYS).map(([name, key]) => [name, serverKeySchema(key)])),
    allOf: [present('name')],
    if: present('command'),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: absent('url', 'transport', 'headers', 'allow_insecure', 'auth'),
      not: { allOf: [present('env'), present('envs')] },
    },
    else: { allOf: [present('url')], properties: absent('args', 'cwd', 'envs', 'env', 'inherit_env') },
  };
}

function serverKeySchema({ meaning, default: text = '', schema }) {
  const value = /^`([^`]*)`$/.exec(text)?.[1];
  return {
    description: plain(meaning),
    ...orNull(schema),
    ...(value === undefined ? {} : { default: toValue(value) }),
  };
}

function section() {
  return { type: ['object', 'null'], properties: {}, additionalProperties: false };
}

/** An empty key is absent. */
function orNull(schema) {
  if (schema.enum !== undefined) return { ...schema, enum: [...schema.enum, null] };
  if (schema.anyOf !== undefined) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'].flat() };
}

/** White space around a text is ignored. */
function matching({ source }) {
  return { type: 'string', pattern: source.replace(/^\^/, '^\\s*').replaceAll('$', '\\s*$') };
}

function toValue(text) {
  return /^[a-z]/.test(text) && !/^(?:true|false)$/.test(text) ? text : JSON.parse(text);
}

/** Markdown as text, beginning with a capital letter. */
function plain(markdown) {
  const text = markdown
    .replace(/ ?\(\[[^\]]*\]\([^)]*\)\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '');
  return text[0].toUpperCase() + text.slice(1);
}
