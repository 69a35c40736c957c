import { isObject, type JsonObject, type WithoutUndefined } from '../../../domain/values/json.ts';
import { type ReadContext, readValue, type ValueKind, yamlOnly } from './kinds.ts';
import { type MemberWords, unknownKey } from './member-words.ts';

interface KeyOptions<T> {
  readonly default?: T;
  /** The text in the documents for a key without a default. */
  readonly absent?: string;
  /** The environment variable that overrides YAML. */
  readonly variable?: string;
  /** The option of the command line that overrides the variable. */
  readonly option?: string;
  /** Whether other programs use the variable, too. A value that is not accepted is then ignored. */
  readonly isSharedVariable?: true;
}

/** A key of the configuration, or of a server. */
export interface Key<T = unknown> extends KeyOptions<T> {
  /** The purpose of the key, in Markdown, for the documents and the JSON Schema. */
  readonly description: string;
  readonly kind: ValueKind<T>;
}

/** Keys by name, some of them in sections of their own. */
export interface Section<Entry = Key> {
  readonly [name: string]: Entry | Section<Entry>;
}

export function key<T, const Options extends KeyOptions<T>>(
  description: string,
  kind: ValueKind<T>,
  options = {} as Options,
) {
  return { description, kind, ...options };
}

/** A key of a map that is the value of another key, whose description covers it. */
type Member<T = unknown> = Pick<Key<T>, 'kind' | 'default'>;

/** Values by the dotted paths of their keys. */
export type Values = ReadonlyMap<string, unknown>;

/** The values of a table in its sections, by names like `maxResults` for `max_results`. A key without a default may be absent. */
export type Tree<Table> = WithoutUndefined<{ readonly [Name in keyof Table as Camel<Name>]: Value<Table[Name]> }>;

/** The type of a key or a section. A section may be absent if none of its keys has a default. */
type Value<Entry> = Entry extends { readonly kind: ValueKind<infer T> }
  ? T | (Entry extends { readonly default: unknown } ? never : undefined)
  : Tree<Entry> | (Partial<Tree<Entry>> extends Tree<Entry> ? undefined : never);

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

export function isKey<Entry extends Member>(entry: Entry | Section<Entry>): entry is Entry {
  return 'kind' in entry;
}

/** How a file or a map words its problems, and which values it treats in its own way. */
interface TableRules {
  /** The message about a key that is not in the table. */
  readonly unknown: (path: string) => string;
  /** The message about a value that no key may have. */
  readonly refused?: (value: unknown) => string | undefined;
  /** The values of keys and sections that are present but empty. All others that are empty count as absent. */
  readonly whenEmpty?: Values;
}

/** Reads the keys that a map has, in the order of the map. Reports unknown keys, and values that are not accepted. */
export function readTable(table: Section<Member>, map: unknown, context: ReadContext, rules: TableRules): Values {
  const values = new Map<string, unknown>();
  const keep = (path: string, value: unknown) => {
    if (value !== undefined) values.set(path, value);
  };
  const visit = (entry: Member | Section<Member> | undefined, value: unknown, path: string): void => {
    const where = [context.where, path].filter((part) => part !== '').join('.') || 'the file';
    const refused = rules.refused?.(value);
    if (refused !== undefined) context.report(where, refused, value);
    else if (entry === undefined) context.report(where, rules.unknown(path));
    else if (value == null) keep(path, rules.whenEmpty?.get(path));
    else if (isKey(entry)) keep(path, readValue(entry.kind, value, { ...context, where }));
    else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value))
        visit(Object.hasOwn(entry, name) ? entry[name] : undefined, inner, pathOf(path, name));
    } else context.report(where, 'expected a section of keys', value);
  };
  visit(table, map, '');
  return values;
}

/** The path of a key. A name with a dot is quoted, so that it does not look like a path. */
function pathOf(section: string, name: string): string {
  const key = /^[^.]+$/.test(name) ? name : JSON.stringify(name);
  return section === '' ? key : `${section}.${key}`;
}

/** A map whose keys are described by a table. */
export function membersOf<Members extends Readonly<Record<string, Member>>>(
  accepted: string,
  table: Members,
  words: MemberWords,
) {
  const schemas = Object.entries(table).map(([name, { kind }]) => [name, { anyOf: [kind.schema, { type: 'null' }] }]);
  const schema = { type: 'object', properties: Object.fromEntries(schemas), additionalProperties: false };
  const kind: ValueKind<Tree<Members>> = yamlOnly(accepted, schema, (value, context) =>
    isObject(value) ? readMembers(table, value, context, words) : undefined,
  );
  return kind;
}

/** Reads the members of a map, with the defaults of its table. Problems are in the order of the table, after those of unknown keys. */
export function readMembers<Members extends Readonly<Record<string, Member>>>(
  table: Members,
  map: JsonObject,
  context: ReadContext,
  words: MemberWords,
): Tree<Members> {
  const names = Object.keys(table);
  const ordered = Object.entries(map).sort(([one], [other]) => names.indexOf(one) - names.indexOf(other));
  const unknown = (name: string) => unknownKey(name, names, words);
  const read = readTable(table, Object.fromEntries(ordered), context, { unknown });
  return toTree(new Map([...defaultsOf(Object.entries(table)), ...read]), inCamelCase) as Tree<Members>;
}

/** The defaults of keys, by path. */
export function defaultsOf(keys: readonly (readonly [string, Member])[]): Values {
  return new Map(keys.flatMap(([path, entry]) => (entry.default === undefined ? [] : [[path, entry.default]])));
}

/** Converts `max_results` to `maxResults`. */
export function inCamelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Nests values in sections, as in YAML. If a section is null, a later key of this section replaces the null. */
export function toTree(values: Values, toName = (name: string) => name): JsonObject {
  const tree: Record<string, unknown> = {};
  for (const [path, value] of values) {
    let section = tree;
    const names = path.split('.').map(toName);
    for (const name of names.slice(0, -1)) {
      section[name] ??= {};
      section = section[name] as typeof tree;
    }
    section[names.at(-1) ?? ''] = value;
  }
  return tree;
}
