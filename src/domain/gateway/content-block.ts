import { isObject, type JsonObject } from '../values/json.ts';

type Block<Type extends string> = JsonObject & { readonly type: Type };

/** A block of a result (MCP, ContentBlock). Its other members may have any form. A type that this program does not know is `unknown`. */
export type ContentBlock =
  | Block<'text'>
  | Block<'image'>
  | Block<'audio'>
  | Block<'resource_link'>
  | Block<'resource'>
  | { readonly type: 'unknown' };

type KnownType = Exclude<ContentBlock['type'], 'unknown'>;

const KNOWN: Readonly<Record<KnownType, true>> = {
  text: true,
  image: true,
  audio: true,
  resource_link: true,
  resource: true,
};

export function toContentBlock(block: JsonObject): ContentBlock {
  const { type } = block;
  return typeof type === 'string' && Object.hasOwn(KNOWN, type) ? (block as Block<KnownType>) : { type: 'unknown' };
}

/** The text of a block; undefined for any other block. */
export function textIn(block: JsonObject): string | undefined {
  const read = toContentBlock(block);
  return read.type === 'text' && typeof read.text === 'string' ? read.text : undefined;
}

/** The block with another URI of the resource to which it links, or which is embedded in it. */
export function withResourceUri(block: JsonObject, toUri: (uri: string) => string): JsonObject {
  const read = toContentBlock(block);
  switch (read.type) {
    case 'resource_link':
      return typeof read.uri === 'string' ? { ...block, uri: toUri(read.uri) } : block;
    case 'resource': {
      const { resource } = read;
      if (!isObject(resource) || typeof resource.uri !== 'string') return block;
      return { ...block, resource: { ...resource, uri: toUri(resource.uri) } };
    }
    case 'text':
    case 'image':
    case 'audio':
    case 'unknown':
      return block;
  }
}
