import { dirname } from 'node:path';
import { type Document, isNode, isScalar, type Node, parseDocument, visit } from 'yaml';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { isObject } from '../../../domain/values/json.ts';
import { looksLikeKey } from '../../../domain/values/redaction.ts';
import { readText } from '../files/local-files.ts';
import { KEYS, TABLE } from './keys.ts';
import { DOCUMENTS, MAX_TYPOS, nearest } from './member-words.ts';
import { reporter } from './problems.ts';
import { readTable, type Values } from './table.ts';

const KEY_ADVICE =
  'expected no API key: keep keys out of this file, and set the key in the variable that openai.api_key_env names';

const KEY_LIST = `${DOCUMENTS}/reference/config-reference.md#keys`;

/** Maximum length of a reason, which may quote the file. */
const MAX_REASON = 200;

const EMPTY =
  'expected at least one key: the file may not be completely written yet; for no servers, write servers: []';

/** The values of keys and sections that are present but empty. All others that are empty count as absent. */
const WHEN_EMPTY = new Map<string, unknown>([
  // Removes the default profile.
  ['model_profiles.answer', null],
  // Removing the last entry must not allow everything to everyone.
  ['access', {}],
]);

export interface YamlFile {
  readonly values: Values;
  /** Undefined if the file cannot be read. */
  readonly text?: string | undefined;
}

/** Reads the keys of a YAML file. `label` names the file as a person typed it, such as `--config x.yaml`. */
export function readYamlFile(file: string, label: string, mustHaveKeys: boolean, problems: ConfigProblem[]): YamlFile {
  const values = new Map<string, unknown>();
  const reportFile = reporter(problems);
  const read = readText(file);
  if ('reason' in read) {
    reportFile(label, `expected a YAML file that can be read (${read.reason})`);
    return { values };
  }
  const { text } = read;
  const parsed = parseYaml(text);
  if ('problem' in parsed) {
    reportFile(file, `expected a file in YAML (${parsed.problem})`);
    return { values, text };
  }
  const { content } = parsed;
  if (isObject(content) && (isObject(content.mcpServers) || (file.endsWith('.json') && isObject(content.servers)))) {
    const advice = file.endsWith('.json')
      ? `use it with --servers ${file}`
      : 'write its servers as JSON for --servers, or as a list under servers here';
    reportFile(label, `it is a file of another client; ${advice}`);
    return { values, text };
  }
  if (mustHaveKeys && content === null) reportFile(file, EMPTY);
  const report = reporter(problems, file);
  const context = { where: '', folder: dirname(file), report, expand: (text: string) => text };
  const refused = (value: unknown) => (typeof value === 'string' && looksLikeKey(value) ? KEY_ADVICE : undefined);
  const rules = { unknown: unknownKeyMessage, refused, whenEmpty: WHEN_EMPTY };
  return { values: readTable(TABLE, content, context, rules), text };
}

/** The content of a YAML text, or why there is none. The package reports some problems by throwing, such as aliases that multiply. */
function parseYaml(text: string): { readonly content: unknown } | { readonly problem: string } {
  try {
    const document = parseDocument(text);
    const [syntax] = document.errors;
    if (syntax?.code === 'MULTIPLE_DOCS') return { problem: 'it contains more than one document' };
    if (syntax !== undefined) return { problem: reasonOf(syntax) };
    keepDigits(document);
    const content: unknown = document.toJS() ?? null;
    return isTree(content) ? { content } : { problem: 'an alias is inside of its own anchor' };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}

/** Whether no value contains itself. */
function isTree(value: unknown, above: readonly unknown[] = []): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return !above.includes(value) && Object.values(value).every((inner) => isTree(inner, [...above, value]));
}

function reasonOf(error: unknown): string {
  const { message } = error as Error;
  if (message.startsWith('Maximum call stack')) return 'it is nested too deeply';
  if (message.startsWith('Excessive alias count')) return 'its aliases stand for too many values';
  return shortLine(message.split('\n')[0] ?? '', MAX_REASON).replace(/:$/, '');
}

/** The keys whose numbers are texts: a version `1.10` is not 1.1. */
const TEXTS = ['args', 'envs', 'env', 'headers'];

/** Replaces numbers in texts of servers by what is written. */
function keepDigits(document: Document.Parsed): void {
  const keep = (node: Node) =>
    visit(node, {
      Scalar: (_, scalar) => {
        if (typeof scalar.value === 'number') scalar.value = scalar.source;
      },
    });
  visit(document, {
    Pair: (_, { key, value }) => {
      if (isScalar(key) && TEXTS.includes(String(key.value)) && isNode(value)) keep(value);
    },
  });
}

function unknownKeyMessage(path: string): string {
  if (/(?:^|\.)api[_-]?key$/i.test(path)) return KEY_ADVICE;
  const sections = (known: string) => known.split('.').map((_, end, names) => names.slice(0, end + 1).join('.'));
  const paths = [...new Set(KEYS.flatMap((key) => sections(key.path)))];
  // Keys of the same name in other sections.
  const namesakes = paths.filter((known) => known.endsWith(`.${path.split('.').at(-1)}`));
  const known = nearest(path, paths, MAX_TYPOS) ?? nearest(path, namesakes);
  return known === undefined ? `unknown key; all keys: ${KEY_LIST}` : `unknown key; did you mean ${known}?`;
}
