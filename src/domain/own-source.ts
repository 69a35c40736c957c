import { isWebUrl } from './citation.ts';
import { cleanLine } from './clean-text.ts';
import { isObject, type JsonObject } from './json.ts';
import type { ToolResult } from './tool-result.ts';

/** A source in one of the user's own systems (ruling L23). */
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

/** The sources of a result. `turn` is the number of the call in the answer. */
export function sourcesOf(result: ToolResult, call: string, turn: number): readonly OwnSource[] {
  const found = [
    ...result.content.flatMap(ofBlock),
    ...(isObject(result.structuredContent) ? ofStructured(result.structuredContent) : []),
  ];
  const named = found.length === 0 ? [{ url: call }] : found.slice(0, MAX_SOURCES);
  return named.map((source, index) => ({ ...source, ref: `turn${turn}tool${index}`, call }));
}

type Found = Pick<OwnSource, 'url' | 'title' | 'changedOn'>;

function ofBlock(block: JsonObject): readonly Found[] {
  if (block.type === 'resource_link') return toFound(block.uri, block.title ?? block.name, block.annotations);
  if (block.type !== 'resource' || !isObject(block.resource)) return [];
  const { uri, title, name, annotations } = block.resource;
  return toFound(uri, title ?? name, annotations ?? block.annotations);
}

/** `results` as ChatGPT's connectors return them, or the object itself. */
function ofStructured(content: JsonObject): readonly Found[] {
  const entries = Array.isArray(content.results) ? content.results : [content];
  return entries.filter(isObject).flatMap(({ url, title, annotations }) => toFound(url, title, annotations));
}

function toFound(uri: unknown, title: unknown, annotations: unknown): readonly Found[] {
  const url = typeof uri === 'string' ? cleanLine(uri) : '';
  if (url === '') return [];
  const name = typeof title === 'string' ? cleanLine(title) : '';
  const modified = isObject(annotations) ? annotations.lastModified : undefined;
  const [day] =
    typeof modified === 'string' ? (/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])/.exec(modified) ?? []) : [];
  return [{ url, ...(name === '' ? {} : { title: name }), ...(day === undefined ? {} : { changedOn: day }) }];
}

/** OpenAI's guide for citations: the model is trained on these characters. */
const START = '\uE200';
const SEPARATOR = '\uE202';
const END = '\uE201';

/** The marker that the model puts after a sentence. */
export function markerOf({ ref }: OwnSource): string {
  return `${START}cite${SEPARATOR}${ref}${END}`;
}

/** A text without its markers, and the sources that they name. */
export interface Resolved {
  readonly text: string;
  /** In the order of the text. */
  readonly marked: readonly OwnSource[];
}

/** Replaces known markers by links, or by the call in brackets, and removes the others. No marker remains. */
export function resolveMarkers(text: string, sources: readonly OwnSource[]): Resolved {
  const byRef = new Map(sources.map((source) => [source.ref, source]));
  const marked = new Set<OwnSource>();
  const resolved = text.replace(/[ \t]*\uE200([^\uE200\uE201]*)\uE201/g, (whole, content: string) => {
    const [kind, ...refs] = content.split(SEPARATOR);
    const known = refs.map((ref) => byRef.get(ref.trim())).filter((source) => source !== undefined);
    // Markers of the web search have refs such as turn0search1, and are removed later with their text.
    if (kind !== 'cite' || known.length === 0) return refs.some((ref) => ref.includes('tool')) ? '' : whole;
    for (const source of known) marked.add(source);
    return [...new Set(known)].map(toLink).join('');
  });
  return { text: resolved, marked: [...marked] };
}

function toLink({ url, title, call }: OwnSource): string {
  if (!isWebUrl(url)) return ` [${call}]`;
  const name = (title ?? url).replace(/[[\]]/g, '');
  return ` ([${name}](${url.replace(/\(/g, '%28').replace(/\)/g, '%29').replace(/\s/g, '%20')}))`;
}
