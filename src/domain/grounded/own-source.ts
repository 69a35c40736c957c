import { type ContentBlock, type ToolResult, toContentBlock } from '../gateway/tool-result.ts';
import { cleanLine, clip, shortLine } from '../values/clean-text.ts';
import { isObject, type JsonObject, withoutUndefined } from '../values/json.ts';
import { redactedValue } from '../values/redaction.ts';
import { isUnusable, isWebUrl, toWebUrl, withoutUserInfo } from '../values/web-url.ts';

/** A source in one of the user's own systems. */
export interface OwnSource {
  /** The marker with which the model refers to it: `turn0tool1`. */
  readonly ref: string;
  /** A URI, or the call as `server/tool`. */
  readonly url: string;
  readonly title?: string;
  /** The day of the last change, `YYYY-MM-DD`, if the server reported one. */
  readonly changedOn?: string;
  /** The call from which it comes, as `server/tool`. */
  readonly call: string;
}

const MAX_SOURCES = 50;
const MAX_URL = 2000;
const MAX_NAME = 200;

/** A call as `server/tool`. The name of a tool is text of its server. */
export function callName({ server, name }: { readonly server: string; readonly name: string }): string {
  return clip(cleanLine(`${server}/${name}`).replace(/[[\]]/g, ''), MAX_NAME);
}

type Redact = (text: string) => string;

/** The sources of a result, with secrets of servers masked. `turn` is the number of the call in the answer. */
export function sourcesOf({ content, structuredContent }: ToolResult, call: string, turn: number, redact: Redact) {
  const blocks = content.map(toContentBlock);
  const found = [
    ...blocks.filter(({ type }) => type === 'resource_link').flatMap(ofBlock),
    ...blocks.filter(({ type }) => type === 'resource').flatMap(ofBlock),
    ...(isObject(structuredContent) ? ofStructured(structuredContent) : []),
  ];
  const byUrl = new Map<string, Found>();
  // Servers name the same page as a link and in the structured content.
  for (const source of found) byUrl.set(source.url, { ...source, ...byUrl.get(source.url) });
  const named = byUrl.size === 0 ? [{ url: call }] : [...byUrl.values()].slice(0, MAX_SOURCES);
  return named.map((source, index) => withoutSecrets({ ...source, ref: `turn${turn}tool${index}`, call }, redact));
}

/** Replaces an address with a masked secret, which leads nowhere, by the call. */
function withoutSecrets(source: OwnSource, redact: Redact): OwnSource {
  const masked = redactedValue(source, redact);
  return masked.url === source.url ? masked : { ...masked, url: masked.call };
}

/** The source for callers on other machines, without paths of this machine, which only its user may see. */
export function withoutLocalPath(source: OwnSource): OwnSource {
  // A drive letter is not a scheme.
  if (/^[a-z][a-z0-9+.-]+:/i.test(source.url) && !isFileUri(source.url)) return source;
  const { ref, call } = source;
  return { ref, call, url: call };
}

/** Matches `file:` URIs in answers: the model can repeat one that it read in a result. */
const FILE_URI = /\bfile:\/+[^\s<>"'`)\]]*[^\s<>"'`)\].,;:!?]/gi;

/** Replaces the `file:` URIs of these sources by their calls, and others by a note. Without sources, nothing of this machine was read. */
export function withoutFileUris(text: string, sources: readonly OwnSource[]): string {
  const local = sources.filter(({ url }) => isFileUri(url)).sort((a, b) => b.url.length - a.url.length);
  const named = local.reduce((text, { url, call }) => text.replaceAll(url, call), text);
  return sources.length === 0 ? named : named.replace(FILE_URI, '[local file]');
}

function isFileUri(url: string): boolean {
  return /^file:/i.test(url);
}

type Found = Pick<OwnSource, 'url' | 'title' | 'changedOn'>;

/** The source of a link, or of a block with a resource. */
function ofBlock(block: ContentBlock): readonly Found[] {
  if (block.type === 'unknown') return [];
  const source = block.type === 'resource' ? block.resource : block;
  if (!isObject(source)) return [];
  return toFound(source.uri, source.title ?? source.name, source.annotations ?? block.annotations);
}

/** The entries of `results`, as ChatGPT's connectors return them, or the object itself. */
function ofStructured(content: JsonObject): readonly Found[] {
  const entries = Array.isArray(content.results) ? content.results : [content];
  return entries.filter(isObject).flatMap(({ url, title, annotations }) => toFound(url, title, annotations));
}

function toFound(uri: unknown, title: unknown, annotations: unknown): readonly Found[] {
  const text = typeof uri === 'string' && uri.length <= MAX_URL ? withoutUserInfo(cleanLine(uri)) : '';
  // The user's own systems may use any other scheme.
  const url = /^https?:/i.test(text) ? (toWebUrl(text) ?? '') : text;
  if (url === '' || isUnusable(url)) return [];
  const name = typeof title === 'string' ? shortLine(title, MAX_NAME) : '';
  const modified =
    isObject(annotations) && typeof annotations.lastModified === 'string' ? annotations.lastModified : '';
  const changedOn = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/.exec(modified)?.[0];
  return [withoutUndefined({ url, title: name || undefined, changedOn })];
}

/** OpenAI's guide for citations: U+E200 opens, U+E202 separates, U+E201 closes. Models forget the end now and then. */
const MARKER = /(?<![ \t])[ \t]*\uE200cite(?:((?:\uE202[^\n\uE200-\uE202]*)+)\uE201|((?:\uE202turn\d+[a-z]+\d+)+))/g;

/** The marker that the model puts after a sentence. */
export function markerOf({ ref }: OwnSource): string {
  return `\uE200cite\uE202${ref}\uE201`;
}

/** Replaces known markers by links, or by the call in brackets, and returns their sources in order. `cleanText` removes other markers. */
export function resolveMarkers(text: string, sources: readonly OwnSource[]) {
  const byRef = new Map(sources.map((source) => [source.ref, source]));
  const marked = new Set<OwnSource>();
  const resolved = text.replace(MARKER, (whole, closed?: string, open?: string) => {
    const refs = (closed ?? open ?? '').split('\uE202');
    const known = refs.map((ref) => byRef.get(ref.trim())).filter((source) => source !== undefined);
    for (const source of known) marked.add(source);
    // An unknown marker gets its end, so that it is removed completely.
    if (known.length === 0) return closed === undefined ? `${whole}\uE201` : whole;
    return [...new Set(known.map(toLink))].join('');
  });
  return { text: resolved, marked: [...marked] };
}

function toLink({ url, title, call }: OwnSource): string {
  if (!isWebUrl(url)) return ` [${call}]`;
  const name = (title ?? url).replace(/[[\]\\`]/g, '');
  const target = url.replace(/[()<>\\ ]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return ` ([${name}](${target}))`;
}
