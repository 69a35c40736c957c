import { isObject, type JsonObject } from '../values/json.ts';
import { exposedNames } from './unique-names.ts';

/** A list of a server beside that of its tools, by the member of its result. */
export type SharedList = 'resources' | 'resourceTemplates' | 'prompts';

/** A resource, a template or a prompt, as its server listed it. `id` is its URI, its template, or its name. */
export interface SharedEntry {
  readonly server: string;
  readonly name: string;
  readonly id: string;
  readonly listed: JsonObject;
}

const ID = { resources: 'uri', resourceTemplates: 'uriTemplate', prompts: 'name' } as const;

/** Reads an entry of a list; undefined if it cannot be used. */
export function parseEntry(server: string, list: SharedList, listed: unknown): SharedEntry | undefined {
  if (!isObject(listed)) return undefined;
  const { name, [ID[list]]: id } = listed;
  return typeof name === 'string' && name !== '' && typeof id === 'string' ? { server, name, id, listed } : undefined;
}

/** The entries as clients see them (ruling T15): a URI that is not unique has its server. `servers` are all that the caller may use. */
export function exposedEntries(list: SharedList, entries: readonly SharedEntry[], servers: readonly string[]) {
  const keyOf = ({ server, name }: SharedEntry) => `${server}\n${name}`;
  const named = new Map(entries.map((entry) => [keyOf(entry), entry]));
  const names = exposedNames([...named.values()], servers);
  const nameOf = new Map([...named.keys()].map((key, index) => [key, names[index]]));
  const ownerOf = new Map(entries.map(({ server, id }) => [id, server]));
  const shared = new Set(entries.filter(({ server, id }) => ownerOf.get(id) !== server).map(({ id }) => id));
  const isAmbiguous = (id: string) => shared.has(id) || parseGatewayUri(id) !== undefined;
  return entries.map((entry): JsonObject => {
    const { server, id, listed } = entry;
    const uri = isAmbiguous(id) ? `gateway:///${server}/${id}` : id;
    return { ...listed, [ID[list]]: uri, name: nameOf.get(keyOf(entry)) };
  });
}

/** Reads a URI that names its server. */
export function parseGatewayUri(text: string): { readonly server: string; readonly uri: string } | undefined {
  const [, server, uri] = /^gateway:\/\/\/([^/]+)\/(.+)$/s.exec(text) ?? [];
  return server === undefined || uri === undefined ? undefined : { server, uri };
}

/** The result of a server about a resource, with the URI that the client asked for. The parts of a folder keep their own. */
export function withAskedUri(result: JsonObject, uri: string, asked: string): JsonObject {
  const { contents } = result;
  if (!Array.isArray(contents)) return result;
  const isAsked = (content: unknown) => isObject(content) && (contents.length === 1 || content.uri === uri);
  return { ...result, contents: contents.map((one) => (isAsked(one) ? { ...one, uri: asked } : one)) };
}
