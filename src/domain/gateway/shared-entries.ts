import { clip } from '../values/clean-text.ts';
import { writable } from '../values/exact-number.ts';
import { isObject, type JsonObject } from '../values/json.ts';
import { BOOLEAN, ENTRY, inForm, listOf, objectOf, RESOURCE, TEXT, withText } from './member-forms.ts';
import { withResourceUri } from './tool-result.ts';
import { exposedNames } from './unique-names.ts';

/** A list of a server other than its tools, named as in the result of MCP. */
export type SharedList = 'resources' | 'resourceTemplates' | 'prompts';

/** A resource, a template or a prompt, as its server listed it. `id` is its URI, its template, or its name. */
export interface SharedEntry {
  readonly server: string;
  readonly name: string;
  readonly id: string;
  readonly listed: JsonObject;
}

const ID = { resources: 'uri', resourceTemplates: 'uriTemplate', prompts: 'name' } as const;

const ARGUMENT = withText('name', objectOf({ title: TEXT, description: TEXT, required: BOOLEAN }));
const FORMS = { resources: RESOURCE, resourceTemplates: RESOURCE, prompts: { ...ENTRY, arguments: listOf(ARGUMENT) } };

/** Reads an entry of a list, in the form in which clients get it; undefined if it has no URI or, as a prompt, no name. */
export function parseEntry(server: string, list: SharedList, entry: unknown): SharedEntry | undefined {
  const listed = writable(entry);
  if (!isObject(listed)) return undefined;
  const { [ID[list]]: id } = listed;
  if (typeof id !== 'string' || id === '') return undefined;
  const name = typeof listed.name === 'string' && listed.name !== '' ? listed.name : id;
  return { server, name, id, listed: inForm(listed, FORMS[list]) };
}

/** An entry of a list of a server that no one gets, because it cannot be brought into the form of MCP, or has the name of another one. `name` is empty if it has none. */
export interface LeftOut {
  readonly list: SharedList | 'tools';
  readonly name: string;
  /** For people. */
  readonly reason: string;
}

/** Reads the entries of a list. Of several with one name (of resources: also one URI), the first counts, because a call names only one. */
export function readEntries<T extends { readonly name: string; readonly id?: unknown }>(
  list: LeftOut['list'],
  listed: readonly unknown[],
  parse: (entry: unknown) => T | undefined,
): { readonly entries: readonly T[]; readonly leftOut: readonly LeftOut[] } {
  const entries = new Map<string, T>();
  const leftOut: LeftOut[] = [];
  for (const one of listed) {
    const entry = parse(one);
    const key = entry && (list === 'tools' ? entry.name : `${entry.name}\n${entry.id}`);
    if (entry === undefined || key === undefined) leftOut.push(toLeftOut(list, one, unusable(list, one)));
    else if (entries.has(key)) leftOut.push(toLeftOut(list, one, 'another one of this name is listed before it'));
    else entries.set(key, entry);
  }
  return { entries: [...entries.values()], leftOut };
}

const MAX_NAME = 200;

function toLeftOut(list: LeftOut['list'], entry: unknown, reason: string): LeftOut {
  const { name } = isObject(entry) ? entry : {};
  return { list, name: typeof name === 'string' ? clip(name, MAX_NAME) : '', reason };
}

function unusable(list: LeftOut['list'], entry: unknown): string {
  if (list !== 'tools') return `it has no ${ID[list]}`;
  const isNamed = isObject(entry) && typeof entry.name === 'string' && entry.name !== '';
  return isNamed ? 'its inputSchema does not describe an object' : 'it has no name';
}

/** The entries as clients see them: names and URIs contain their server, as names of tools do. `servers`: all servers that the caller may use. */
export function exposedEntries(list: SharedList, entries: readonly SharedEntry[], servers: readonly string[]) {
  const keyOf = ({ server, name }: SharedEntry) => `${server}\n${name}`;
  const named = new Map(entries.map((entry) => [keyOf(entry), entry]));
  const names = exposedNames([...named.values()], servers);
  const nameOf = new Map([...named.keys()].map((key, index) => [key, names[index]]));
  return entries.map((entry): JsonObject => {
    const { server, id, listed } = entry;
    const exposed = list === 'prompts' ? {} : { [ID[list]]: exposedUri(server, id) };
    return { ...listed, ...exposed, name: nameOf.get(keyOf(entry)) };
  });
}

/** The URI of a resource with its server. A `ui://` URI stays as it is, because hosts look at the scheme. */
function exposedUri(server: string, uri: string): string {
  return isUiUri(uri) ? uri : `gateway:///${server}/${uri}`;
}

/** Whether a URI names a page that a host shows (MCP Apps). */
export function isUiUri(uri: string): boolean {
  return uri.startsWith('ui://');
}

/** Reads a URI that names its server. */
export function parseGatewayUri(text: string): { readonly server: string; readonly uri: string } | undefined {
  const [, server, uri] = /^gateway:\/\/\/([^/]+)\/(.+)$/s.exec(text) ?? [];
  return server === undefined || uri === undefined ? undefined : { server, uri };
}

/** The result of `resources/read`, with the URI that the client asked for. The URIs of a folder's parts contain their server. */
export function withExposedContents(result: JsonObject, server: string, uri: string, asked: string): JsonObject {
  const { contents } = result;
  if (!Array.isArray(contents)) return result;
  const isAsked = (content: JsonObject) => contents.length === 1 || content.uri === uri;
  const expose = (content: unknown) =>
    isObject(content) && typeof content.uri === 'string'
      ? { ...content, uri: isAsked(content) ? asked : exposedUri(server, content.uri) }
      : content;
  return { ...result, contents: contents.map(expose) };
}

/** The result of a tool, or of `prompts/get`. Links to resources and embedded resources get the URIs that the lists have. */
export function withExposedLinks(result: JsonObject, server: string): JsonObject {
  const toUri = (uri: string) => linkUri(server, uri);
  const expose = (block: unknown) => (isObject(block) ? withResourceUri(block, toUri) : block);
  const { content, messages } = result;
  if (Array.isArray(content)) return { ...result, content: content.map(expose) };
  if (!Array.isArray(messages)) return result;
  const withContent = (one: unknown) => (isObject(one) ? { ...one, content: expose(one.content) } : one);
  return { ...result, messages: messages.map(withContent) };
}

/** Clients open web pages themselves. */
function linkUri(server: string, uri: string): string {
  return /^https?:\/\//i.test(uri) ? uri : exposedUri(server, uri);
}
