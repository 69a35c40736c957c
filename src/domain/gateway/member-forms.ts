import { isObject, type JsonObject } from '../values/json.ts';

/** Brings a member into the form that MCP specifies; undefined if it has no such form. */
export type Form = (value: unknown) => unknown;
type Forms = Readonly<Record<string, Form>>;

/**
 * The object with each of these members in its form, or without it. Other members pass as they came, unless they are null. The same object if nothing
 * had to be changed.
 */
export function inForm(object: JsonObject, forms: Forms): JsonObject {
  const formOf = (name: string) => (Object.hasOwn(forms, name) ? forms[name] : undefined);
  return mapMembers(object, (member, name) => (formOf(name) ?? NOT_NULL)(member));
}

/** The object with other members, without those that become undefined. The same object if none changes. */
export function mapMembers(object: JsonObject, change: (member: unknown, name: string) => unknown): JsonObject {
  const members = Object.entries(object).map(([name, member]) => [name, member, change(member, name)] as const);
  if (members.every(([, member, changed]) => member === changed)) return object;
  return Object.fromEntries(members.flatMap(([name, , changed]) => (changed === undefined ? [] : [[name, changed]])));
}

const NOT_NULL: Form = (value) => value ?? undefined;
export const ANYTHING: Form = (value) => value;
export const TEXT: Form = (value) => (typeof value === 'string' ? value : undefined);
export const BOOLEAN: Form = (value) => (typeof value === 'boolean' ? value : undefined);
export const OBJECT: Form = (value) => (isObject(value) ? value : undefined);

export function objectOf(forms: Forms): Form {
  return (value) => (isObject(value) ? inForm(value, forms) : undefined);
}

/** A list without the entries that have no such form. */
export function listOf(form: Form): Form {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const kept = value.map(form).filter((entry) => entry !== undefined);
    return kept.length === value.length && kept.every((entry, index) => entry === value[index]) ? value : kept;
  };
}

/** An entry that has a text in this member, which MCP requires. */
export function withText(member: string, form: Form): Form {
  return (value) => (isObject(value) && typeof value[member] === 'string' ? form(value) : undefined);
}

const ICON = withText(
  'src',
  objectOf({
    mimeType: TEXT,
    sizes: (value) => (typeof value === 'string' ? [value] : listOf(TEXT)(value)),
    theme: (value) => (value === 'light' || value === 'dark' ? value : undefined),
  }),
);

/** Members that tools, prompts, resources and templates have in common. */
export const ENTRY: Forms = { title: TEXT, description: TEXT, icons: listOf(ICON), _meta: OBJECT };

const ROLE: Form = (value) => (value === 'user' || value === 'assistant' ? value : undefined);
const PRIORITY: Form = (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined);

/** The official clients refuse a block for a time without an offset, or a day that does not exist. */
const TIME: Form = (value) => {
  const [, day = ''] =
    (typeof value === 'string' &&
      /^(\d{4}-(?:0[1-9]|1[0-2])-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(
        value,
      )) ||
    [];
  const date = new Date(day);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day) ? value : undefined;
};

/** The annotations of resources and blocks. */
export const ANNOTATIONS = objectOf({ audience: listOf(ROLE), priority: PRIORITY, lastModified: TIME });

const SIZE: Form = (value) => (Number.isSafeInteger(value) ? value : undefined);

/** Members of resources, also of links to them. */
export const RESOURCE: Forms = { ...ENTRY, mimeType: TEXT, size: SIZE, annotations: ANNOTATIONS };
