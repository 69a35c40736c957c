import { type ContentBlock, toContentBlock } from '../../../../domain/gateway/tool-result.ts';
import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { type Child, el, foreign, link, pretty } from './elements.ts';
import { withoutUser } from './web-link.ts';

/** Longer texts are cut until the reader asks for the rest, because they make the browser slow. */
const SHOWN_CHARACTERS = 50_000;
const IMAGE_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;
const AUDIO_TYPES = /^audio\/(?:(?:x-)?wav|mpeg|mp3|mp4|ogg|webm|aac|flac)$/i;

/** The response to a call of a tool. */
export function resultNodes(response: Response, body: unknown, tool: string, time: string): readonly Child[] {
  const { success, result, content, structuredContent, error } = isObject(body) ? body : {};
  const { code, message, details } = isObject(error) ? error : {};
  const { requestId = response.headers.get('X-Request-Id'), ...others } = isObject(details) ? details : {};
  const facts = [time, `HTTP ${response.status}`, requestId ? `request ${requestId}` : undefined];
  const [className, status] = success ? ['good', 'Success'] : ['bad', 'Error'];
  const heading = el(
    'p',
    { className: 'facts' },
    el('strong', { className }, status),
    facts.map((fact) => fact && el('span', {}, fact)),
  );
  const blocks = (Array.isArray(content) ? content : []).filter(isObject);
  const shown = (blocks: readonly JsonObject[]) => blocks.map((block) => contentBlock(block, tool));
  // A result without a plain value is shown by its content alone.
  if (success) return [heading, json(blocks.length > 0 ? (result ?? undefined) : result), shown(blocks)];
  const failure = el(
    'div',
    { className: 'failure' },
    el('strong', {}, isText(code) ? code : 'This response is not from openai-responses-mcp.'),
    json(message),
    json(Object.keys(others).length === 0 ? undefined : others),
  );
  // The text blocks are not repeated: the message consists of them.
  return [
    heading,
    failure,
    json(structuredContent),
    shown(blocks.filter((block) => toContentBlock(block).type !== 'text')),
  ];
}

/** Text with its JSON pretty-printed, cut if it is long. */
export function textBlock(text: string): HTMLElement {
  let shown = text;
  try {
    if (/^\s*[[{]/.test(text)) shown = pretty(JSON.parse(text));
  } catch {
    // The text only begins like JSON.
  }
  const block = el('pre', { tabIndex: 0 }, shown.slice(0, SHOWN_CHARACTERS));
  if (shown.length <= SHOWN_CHARACTERS) return block;
  const more = el('button', { type: 'button' }, `Show all ${shown.length} characters`);
  more.onclick = () => {
    block.textContent = shown;
    block.focus();
    more.remove();
  };
  return el('div', {}, block, more);
}

function json(value: unknown): Child {
  return value === undefined ? undefined : textBlock(typeof value === 'string' ? value : pretty(value));
}

/** Shows a block; undefined if it lacks what its type requires. */
type Show = (block: JsonObject, about: string) => HTMLElement | undefined;

/** A block of a result (MCP, ContentBlock). */
function contentBlock(block: JsonObject, tool: string): HTMLElement {
  const { type } = toContentBlock(block);
  return SHOWN[type](block, `Result of ${tool}`) ?? textBlock(pretty(block));
}

const asMedia: Show = ({ mimeType, data }, about) => media(mimeType, data, about);

const SHOWN: Readonly<Record<ContentBlock['type'], Show>> = {
  text: ({ text }) => (isText(text) ? textBlock(text) : undefined),
  image: asMedia,
  audio: asMedia,
  resource_link: (block) => (isText(block.uri) ? resourceLink(block.uri, block) : undefined),
  resource: ({ resource }, about) => (isObject(resource) ? embedded(resource, about) : undefined),
  unknown: () => undefined,
};

function embedded({ text, mimeType, blob, uri }: JsonObject, about: string): HTMLElement | undefined {
  const shown = isText(text) ? textBlock(text) : media(mimeType, blob, about);
  return shown && el('div', {}, el('p', { className: 'hint' }, 'Resource ', link(uri)), shown);
}

function resourceLink(uri: string, { title, name, mimeType, description }: JsonObject): HTMLElement {
  const label = [title, name].find(isText);
  const details = [label === undefined ? '' : withoutUser(uri), mimeType, description].filter(isText).join(' · ');
  return el('p', {}, link(uri, label), ' ', el('span', { className: 'hint' }, foreign(details)));
}

/** An image or a sound as data; undefined if it is of another type, or not base64. */
function media(mimeType: unknown, data: unknown, about: string): HTMLElement | undefined {
  if (!isText(mimeType) || !isText(data) || !/^[A-Za-z0-9+/\s]+=*\s*$/.test(data)) return undefined;
  const src = `data:${mimeType};base64,${data}`;
  if (AUDIO_TYPES.test(mimeType)) return el('audio', { src, controls: true, ariaLabel: about });
  if (!IMAGE_TYPES.test(mimeType)) return undefined;
  const image = el('img', { src, alt: `${about} (${mimeType})` });
  image.onerror = () => image.replaceWith(el('p', { className: 'bad' }, 'The image cannot be shown.'));
  return image;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
