import { TOOL_PATTERN } from '../../../domain/gateway/gateway-tool.ts';
import { isObject } from '../../../domain/values/json.ts';
import { listOf, mapOf, readValue, section, type ValueKind, yamlOnly } from './kinds.ts';

const PATTERNS = listOf(
  'a list of names of tools, with * at an end for any',
  TOOL_PATTERN,
  /^(?!\s*$)(?:\*?[^*]+\*?|\*)$/,
);

const NEW_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NAMES = mapOf(
  "a map of the server's own names to new ones: at most 64 letters, digits, - and _, no two of them equal",
  { additionalProperties: { type: 'string', pattern: NEW_NAME.source } },
  (name): name is string => typeof name === 'string' && NEW_NAME.test(name),
);
const RENAME: typeof NAMES = {
  ...NAMES,
  fromYaml: (value, context) => {
    const names = NAMES.fromYaml(value, context);
    return names && new Set(Object.values(names)).size === Object.keys(names).length ? names : undefined;
  },
};

const MAX_DESCRIPTION = 4096;
const DESCRIBE = mapOf(
  `a map of names to descriptions of 1 to ${MAX_DESCRIPTION} characters`,
  { additionalProperties: { type: 'string', minLength: 1, maxLength: MAX_DESCRIPTION } },
  (text): text is string => typeof text === 'string' && text !== '' && [...text].length <= MAX_DESCRIPTION,
);

const KEYS = { allow: PATTERNS, deny: PATTERNS, rename: RENAME, describe: DESCRIBE, read_only: PATTERNS };
const NAMES_OF_KEYS = Object.keys(KEYS).join(', ');

type Rules = { readonly [Name in keyof typeof KEYS]?: (typeof KEYS)[Name] extends ValueKind<infer T> ? T : never };

/** Which tools of a server exist, and how callers see them. */
export const toolRules = yamlOnly(
  `a map of rules for tools (${NAMES_OF_KEYS})`,
  section(Object.fromEntries(Object.entries(KEYS).map(([name, { schema }]) => [name, schema]))),
  (value, context): Rules | undefined => {
    if (!isObject(value)) return undefined;
    const read = Object.entries(value).flatMap(([key, rule]) => {
      const where = `${context.where}.${key}`;
      const isKnown = Object.hasOwn(KEYS, key);
      if (!isKnown) context.report(where, `unknown key; the keys are ${NAMES_OF_KEYS}`);
      return isKnown ? [[key, readValue<unknown>(KEYS[key as keyof Rules], rule, { ...context, where })]] : [];
    });
    return Object.fromEntries(read);
  },
);
