import { dirname } from 'node:path';
import { closest, distance } from 'fastest-levenshtein';
import { parseDocument } from 'yaml';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject } from '../../../domain/json.ts';
import { looksLikeKey } from '../../../domain/redaction.ts';
import { shownName } from './environment.ts';
import { expandPath, readText } from './files.ts';
import { KEYS } from './keys.ts';
import { type Layer, toKind } from './layers.ts';

const KEY_ADVICE =
  'expected no API key: keep keys out of this file, set them in the variable that openai.api_key_env names';

const EMPTY = 'expected keys: an empty file may be one that is being written; for no servers, write servers: []';
const MAX_TYPOS = 2;

/** The keys in a YAML file. Problems with the file name it as `where`. Import this only to read a file: it loads the parser. */
export function readYamlFile(file: string, where = file, mustHaveKeys = false): Layer {
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
    return { values: new Map(), file, problems: [{ where: file, message: `expected a file in YAML (${shown})` }] };
  }
  const content = toPlain(document);
  if (mustHaveKeys && (content ?? null) === null)
    return { values: new Map(), file, problems: [{ where: file, message: EMPTY }] };
  const { values, problems } = checkYaml(content, dirname(file));
  return { values, file, problems: problems.map((problem) => ({ ...problem, file })) };
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
function checkYaml(content: unknown, folder: string): Layer {
  const problems: ConfigProblem[] = [];
  const values = new Map<string, unknown>();
  const visit = (value: unknown, path: string): void => {
    const key = KEYS.find((known) => known.path === path);
    const kind = key && toKind(key.kind);
    const isSection = path === '' || KEYS.some((key) => key.path.startsWith(`${path}.`));
    if (typeof value === 'string' && looksLikeKey(value)) {
      problems.push({ where: path, value, message: KEY_ADVICE });
    } else if (kind === undefined && !isSection) {
      problems.push({ where: path, message: unknownKeyMessage(path) });
    } else if (value === null) {
      const removed = path === 'model_profiles.answer' ? KEYS.filter((key) => key.path.startsWith(`${path}.`)) : [];
      for (const key of removed) values.set(key.path, null);
    } else if (kind !== undefined) {
      const read = kind.fromYaml(value);
      const shown = kind.namesSecret ? shownName(toText(value)) : toText(value);
      if (read === undefined && kind.isSecret) problems.push({ where: path, message: `expected ${kind.accepted}` });
      else if (read === undefined) problems.push({ where: path, value: shown, message: `expected ${kind.accepted}` });
      else values.set(path, kind.isPath ? expandPath(String(read), folder) : read);
    } else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        // Quoted, a name that looks like a path is not one.
        const key = /^[^.]+$/.test(name) ? name : JSON.stringify(name);
        visit(inner, path === '' ? key : `${path}.${key}`);
      }
    } else {
      problems.push({ where: path || 'the file', value: toText(value), message: 'expected a section of keys' });
    }
  };
  visit(content ?? null, '');
  return { values, problems };
}

function unknownKeyMessage(path: string): string {
  if (/(?:^|\.)api[_-]?key$/i.test(path)) return KEY_ADVICE;
  const sections = ({ path }: { readonly path: string }) =>
    path.split('.').map((_, end, keys) => keys.slice(0, end + 1).join('.'));
  const paths = [...new Set(KEYS.flatMap(sections))];
  const nearest = closest(path, paths);
  const suggest = (known: string) => `unknown key; did you mean ${known}?`;
  if (distance(path, nearest) <= MAX_TYPOS) return suggest(nearest);
  // A key of the same name is in another place, first of all in the same section.
  const namesakes = paths.filter((known) => known.endsWith(`.${path.split('.').at(-1)}`));
  const inSection = namesakes.filter((known) => known.split('.')[0] === path.split('.')[0]);
  const choices = [inSection, namesakes].find(({ length }) => length > 0);
  return suggest(choices === undefined ? nearest : closest(path, choices));
}

/** JSON cannot express `.inf` and `.nan`. */
function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
