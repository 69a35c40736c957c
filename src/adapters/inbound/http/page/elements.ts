import { webHref, withoutUser } from './web-link.ts';

/** The content of an element. A string becomes a text node, never HTML. */
export type Child = Node | string | undefined | readonly Child[];

/** Creates an element. Its properties must be chosen by this program. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  append(element, children);
  return element;
}

export function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (typeof child === 'string' || child instanceof Node) element.append(child);
    else if (child !== undefined) append(element, child);
  }
}

/** A text from elsewhere, isolated from the text around it. */
export function foreign(text: string, tag: 'span' | 'code' | 'div' | 'p' | 'li' = 'span'): HTMLElement {
  return el(tag, { className: 'foreign' }, text);
}

/** A link to a web page; text if the URL is anything else. */
export function link(url: unknown, text?: string): HTMLElement {
  const href = webHref(url);
  const shown = text ?? (typeof url === 'string' ? withoutUser(url) : JSON.stringify(url));
  if (href === undefined) return foreign(shown);
  return el('a', { className: 'foreign', href, target: '_blank', rel: 'noopener noreferrer' }, shown);
}

/** An element of index.html. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`index.html has no ${type.name} with the ID ${id}`);
}

/** Announces a text to people with a screen reader. */
export function announce(text: string): void {
  byId('announcer', HTMLElement).textContent = text;
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}
