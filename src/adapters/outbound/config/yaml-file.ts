import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject } from '../../../domain/json.ts';
import { looksLikeKey } from '../../../domain/redaction.ts';
import { readText } from './files.ts';
import { isKey, KEYS, type Key, type Section, TABLE } from './keys.ts';
import { type Layer, reportIn, reportUnaccepted } from './layers.ts';
import { MAX_TYPOS, nearest } from './nearest.ts';

const KEY_ADVICE =
  'expected no API key: keep keys out of this file, set them in the variable that openai.api_key_env names';

const EMPTY = 'expected keys: an empty file may be one that is being written; for no servers, write servers: []';

/** The keys in a YAML file. Problems with the file name it as `where`. Import this only to read a file: it loads the parser. */
export function readYamlFile(file: string, where = file, mustHaveKeys = false): Layer {
  const problem = (message: string) => ({ values: new Map(), file, problems: [{ where: file, message }] });
  const read = readText(file);
  if ('reason' in read) {
    const message = `expected a YAML file that can be read (${read.reason})`;
    return { values: new Map(), problems: [{ where, message }] };
  }
  const document = parseDocument(read.text);
  const [syntax] = document.errors;
  if (syntax !== undefined) {
    const reason = syntax.message.split('\n')[0]?.replace(/:$/, '') ?? '';
    const shown = syntax.code === 'MULTIPLE_DOCS' ? 'it contains more than one document' : reason;
    return problem(`expected a file in YAML (${shown})`);
  }
  const content = toPlain(document) ?? null;
  return mustHaveKeys && content === null ? problem(EMPTY) : { ...checkYaml(content, file), file };
}

/** Aliases that would grow without limit make the conversion throw; the text of the error is then not a section. */
function toPlain(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return String(error);
  }
}

/** Validates a file. `null` is absent, but `model_profiles.answer: null` removes the default profile (ruling 11). */
function checkYaml(content: unknown, file: string): Layer {
  const problems: ConfigProblem[] = [];
  const values = new Map<string, unknown>();
  const visit = (entry: Key | Section | undefined, value: unknown, path: string): void => {
    const report = reportIn(problems, path || 'the file', file);
    if (typeof value === 'string' && looksLikeKey(value)) report('', KEY_ADVICE, value);
    else if (entry === undefined) report('', unknownKeyMessage(path));
    else if (value === null) {
      const removed = path === 'model_profiles.answer' ? Object.keys(TABLE.model_profiles.answer) : [];
      for (const name of removed) values.set(`${path}.${name}`, null);
    } else if (isKey(entry)) {
      const read = entry.kind.fromYaml(value, { folder: dirname(file), report });
      if (read === undefined) reportUnaccepted(entry.kind, value, report);
      else values.set(path, read);
    } else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        // Quoted, a name that looks like a path is not one.
        const key = /^[^.]+$/.test(name) ? name : JSON.stringify(name);
        visit(Object.hasOwn(entry, name) ? entry[name] : undefined, inner, path === '' ? key : `${path}.${key}`);
      }
    } else report('', 'expected a section of keys', value);
  };
  visit(TABLE, content, '');
  return { values, problems };
}

function unknownKeyMessage(path: string): string {
  if (/(?:^|\.)api[_-]?key$/i.test(path)) return KEY_ADVICE;
  const sections = ({ path }: { readonly path: string }) =>
    path.split('.').map((_, end, keys) => keys.slice(0, end + 1).join('.'));
  const paths = [...new Set(KEYS.flatMap(sections))];
  // A key of the same name is in another place, first of all in the same section.
  const namesakes = paths.filter((known) => known.endsWith(`.${path.split('.').at(-1)}`));
  const inSection = namesakes.filter((known) => known.split('.')[0] === path.split('.')[0]);
  const mistyped = nearest(path, paths, MAX_TYPOS);
  const known = mistyped ?? nearest(path, inSection) ?? nearest(path, namesakes) ?? nearest(path, paths);
  return `unknown key; did you mean ${known}?`;
}
