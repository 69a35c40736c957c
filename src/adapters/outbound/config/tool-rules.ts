import { TOOL_PATTERN } from '../../../domain/gateway/gateway-tool.ts';
import { listOf, mapOf, text } from './kinds.ts';
import { TOOL_RULE_WORDS } from './member-words.ts';
import { membersOf } from './table.ts';

const PATTERNS = listOf(
  'a list of names of tools, with * at either end for any text',
  TOOL_PATTERN,
  /^(?!\s*$)(?:\*?[^*]+\*?|\*)$/,
);

const NAMES = mapOf(
  "a map of the server's own names to new names, all different",
  text('a name of at most 64 letters, digits, - and _', /^[A-Za-z0-9_-]{1,64}$/),
);
const RENAME: typeof NAMES = {
  ...NAMES,
  fromYaml: (value, context) => {
    const names = NAMES.fromYaml(value, context);
    const areDifferent = names && new Set(Object.values(names)).size === Object.keys(names).length;
    return areDifferent ? names : undefined;
  },
};

const MAX_DESCRIPTION = 4096;
const DESCRIBE = mapOf(
  'a map of names to descriptions',
  text(`a description of 1 to ${MAX_DESCRIPTION} characters`, (text) =>
    text !== '' && [...text].length <= MAX_DESCRIPTION ? text : undefined,
  ),
);

const RULES = {
  allow: { kind: PATTERNS },
  deny: { kind: PATTERNS },
  rename: { kind: RENAME },
  describe: { kind: DESCRIBE },
  read_only: { kind: PATTERNS },
};

/** The rules that say which tools of a server exist, and how callers see them. */
export const toolRules = membersOf(
  'a map of rules for tools (allow, deny, rename, describe, read_only)',
  RULES,
  TOOL_RULE_WORDS,
);
