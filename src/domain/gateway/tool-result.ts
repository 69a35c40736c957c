import { toJsonText } from '../values/exact-number.ts';
import { isNestedDeeper, isObject, type JsonObject, MAX_NESTING, parseJson } from '../values/json.ts';

/** The result of a tool (MCP, CallToolResult). */
export interface ToolResult {
  /** As the server sent it, and with content. */
  readonly raw: JsonObject;
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

/** Reads the result of `tools/call`; undefined if it is not one. Some servers leave out an empty list of content. */
export function parseToolResult(value: unknown): ToolResult | undefined {
  if (!isObject(value)) return undefined;
  const structuredContent = value.structuredContent ?? undefined;
  const isEmpty = Object.keys(value).every((name) => WITHOUT_CONTENT.includes(name));
  if (value.content == null && !isEmpty && structuredContent === undefined) return undefined;
  const content = toBlocks(value.content);
  const isError = value.isError === true || value.isError === 'true';
  const isAsSent = value.content === content && (value.isError == null || typeof value.isError === 'boolean');
  const raw = isAsSent ? value : { ...value, content, isError };
  return { raw, content, isError, ...(structuredContent === undefined ? {} : { structuredContent }) };
}

/** The blocks of a content. Some servers write a text in place of a block, or one block in place of a list. The same list if nothing is repaired. */
export function toBlocks(content: unknown): readonly JsonObject[] {
  if (Array.isArray(content) && content.every(isBlock)) return content;
  return [content].flat().flatMap((block) => {
    if (isBlock(block)) return [block];
    if (block === null || block === undefined) return [];
    if (isObject(block) && typeof block.text === 'string') return [{ ...block, type: 'text' }];
    return [{ type: 'text', text: typeof block === 'string' ? block : toJsonText(block) }];
  });
}

function isBlock(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.type === 'string';
}

/** The members that a result without content may have: a tool that returns nothing writes none. */
const WITHOUT_CONTENT = ['_meta', 'isError', 'content'];

/** The text of a result: its text blocks, joined. */
export function textOf({ content }: ToolResult): string {
  return content
    .map((block) => textIn(block) ?? '')
    .filter((text) => text !== '')
    .join('\n');
}

/**
 * The plain value of a result for programs that do not know MCP: `structuredContent`, else the JSON object or array in the only
 * text block, else that text, else null. `content` is present if there is more than `result` shows.
 */
export function toPlainResult({ content, structuredContent }: ToolResult): {
  result: unknown;
  content?: readonly JsonObject[];
} {
  const [only] = content;
  const text = only === undefined || content.length > 1 ? undefined : textIn(only);
  // Most texts are prose, and an exception for each would cost more than the rest of the call.
  const parsed = text !== undefined && /^\s*[{[]/.test(text) ? parseTextJson(text) : undefined;
  if (structuredContent !== undefined) {
    // Servers repeat the structured content as a text, for clients that do not know it.
    const isRepeated = parsed !== undefined && JSON.stringify(parsed) === JSON.stringify(structuredContent);
    return { result: structuredContent, ...(content.length === 0 || isRepeated ? {} : { content }) };
  }
  if (text === undefined) return { result: null, ...(content.length === 0 ? {} : { content }) };
  return { result: typeof parsed === 'object' && parsed !== null ? parsed : text };
}

/** A longer text is not parsed, because parsing it would delay other calls. */
const MAX_PARSED = 256 * 1024;

/** Undefined if the text is long, is not JSON, or nests so deeply that it could not be written as JSON again. */
export function parseTextJson(text: string): unknown {
  const value = text.length > MAX_PARSED ? undefined : parseJson(text);
  return isNestedDeeper(value, MAX_NESTING) ? undefined : value;
}

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
