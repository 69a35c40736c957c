import { clip } from '../values/clean-text.ts';
import { toJsonText } from '../values/exact-number.ts';
import { isObject, isSameJson, type JsonObject } from '../values/json.ts';
import { BOOLEAN, type Form, inForm, listOf, OBJECT, RESOURCE, TEXT } from './member-forms.ts';
import { parseTextJson, textIn, toBlocks } from './tool-result.ts';

/**
 * The result of a tool in the form that MCP specifies. Nothing is lost: what has no such form becomes a text. Revisions before 2026-07-28 have only
 * objects as structured content (`onlyObjects`).
 */
export function toServedResult(result: JsonObject, { onlyObjects }: { readonly onlyObjects: boolean }): JsonObject {
  const served = inForm(result, { content: listOf(toServedBlock), isError: BOOLEAN, _meta: OBJECT });
  const { structuredContent, ...rest } = served;
  if (structuredContent === undefined || isObject(structuredContent) || !onlyObjects) return served;
  const content = (rest.content ?? []) as readonly JsonObject[];
  const isRepeated = content.some((block) => isSameJson(parseTextJson(textIn(block) ?? ''), structuredContent));
  return { ...rest, content: isRepeated ? content : [...content, toTextBlock(toJsonText(structuredContent))] };
}

/** The result of `prompts/get` in the form that MCP specifies. */
export function toServedPrompt(result: JsonObject): JsonObject {
  const messages = [result.messages ?? []].flat().flatMap(toMessages);
  return { ...inForm(result, { description: TEXT, _meta: OBJECT }), messages };
}

/** The result of `resources/read` in the form that MCP specifies. A content without a URI has the one that was asked for. */
export function toServedContents(result: JsonObject, uri: string): JsonObject {
  const contents = [result.contents ?? []].flat().map((content) => {
    const named = isObject(content) ? { ...content, uri: TEXT(content.uri) ?? uri } : { uri, text: content };
    return toContents(named);
  });
  const ttlMs: Form = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined);
  const cacheScope: Form = (value) => (value === 'public' || value === 'private' ? value : undefined);
  return { ...inForm(result, { _meta: OBJECT, ttlMs, cacheScope }), contents };
}

const MAX_VALUES = 100;

/** The result of `completion/complete` in the form that MCP specifies, which allows so many values. */
export function toServedCompletion(result: JsonObject): JsonObject {
  const total: Form = (value) => (Number.isSafeInteger(value) ? value : undefined);
  const values: Form = (value) => (listOf(TEXT)(value) as readonly unknown[] | undefined)?.slice(0, MAX_VALUES);
  const completion = isObject(result.completion) ? inForm(result.completion, { values, total, hasMore: BOOLEAN }) : {};
  return { ...inForm(result, { _meta: OBJECT }), completion: { values: [], ...completion } };
}

/** A message for each block, because the content of a message is one block. */
function toMessages(message: unknown): readonly JsonObject[] {
  const { role, content = message, ...rest } = isObject(message) ? message : {};
  return toBlocks(content ?? message).flatMap((block) => {
    const served = toServedBlock(block);
    return served === undefined ? [] : [{ ...rest, role: role === 'assistant' ? role : 'user', content: served }];
  });
}

/** A block of a result or a prompt in the form that MCP specifies. One that MCP does not have becomes a text, which a model can read. */
export function toServedBlock(block: unknown): JsonObject | undefined {
  if (!isObject(block)) return undefined;
  const form = typeof block.type === 'string' && Object.hasOwn(BLOCKS, block.type) ? BLOCKS[block.type] : undefined;
  return form?.(inForm(block, RESOURCE)) ?? toTextBlock(describe(block));
}

type Served = (block: JsonObject) => JsonObject | undefined;

const BLOCKS: Readonly<Record<string, Served>> = {
  text: (block) => (typeof block.text === 'string' ? block : { ...block, text: toText(block.text) }),
  image: toMedia,
  audio: toMedia,
  resource_link: (block) => {
    if (typeof block.uri !== 'string') return undefined;
    return typeof block.name === 'string' ? block : { ...block, name: block.uri };
  },
  resource: (block) => {
    const { resource } = block;
    if (!isObject(resource) || typeof resource.uri !== 'string') return undefined;
    const contents = toContents(resource);
    return contents === resource ? block : { ...block, resource: contents };
  },
};

/** An image or a sound. Some servers write its data as a URL, with the type. */
function toMedia(block: JsonObject): JsonObject | undefined {
  const { data, mimeType } = block;
  if (typeof data !== 'string') return undefined;
  const [start = '', type] = /^data:([^;,]+);base64,/.exec(data) ?? [];
  const read = start === '' ? block : { ...block, data: data.slice(start.length), mimeType: mimeType ?? type };
  return isBase64(read.data) && typeof read.mimeType === 'string' ? read : undefined;
}

/** What a resource contains: a text, or data in base64. */
function toContents(contents: JsonObject): JsonObject {
  const served = inForm(contents, { mimeType: TEXT, _meta: OBJECT });
  const { text, blob, ...rest } = served;
  const isText = typeof text === 'string';
  if (isBase64(blob)) return isText || text === undefined ? served : { ...rest, blob };
  return isText && blob === undefined ? served : { ...rest, text: toText(text ?? blob) };
}

/** Whether official clients accept the data, which may have line breaks. */
function isBase64(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const data = /\s/.test(value) ? value.replace(/\s+/g, '') : value;
  const digits = data.length % 4 === 0 ? data.replace(/={1,2}$/, '') : data;
  // A pattern for the complete text remembers each of its characters, which can exceed the stack.
  return digits.length % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(digits);
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : toJsonText(value);
}

function toTextBlock(text: string): JsonObject {
  return { type: 'text', text };
}

/** Longer data in base64 is no text for a model. */
const MAX_DATA = 1000;
const MAX_TYPE = 100;

function describe(block: JsonObject): string {
  const withoutData = (_: string, value: unknown) =>
    typeof value === 'string' && value.length > MAX_DATA && isBase64(value) ? `(${value.length} characters)` : value;
  return `[${clip(String(block.type), MAX_TYPE)}: not a block of MCP]\n${JSON.stringify(block, withoutData)}`;
}
