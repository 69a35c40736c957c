import type { MarkedToken, Token, Tokens } from 'marked';
import stringWidth from 'string-width';
import { pageKey } from '../../../domain/answers/citation.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { type Style, styled } from '../../../domain/values/terminal-style.ts';
import { blocksOf, isBareUrl, known } from '../answer-markdown.ts';
import { hanging, MIN_COLUMNS, wrapped } from './terminal-lines.ts';

export interface TerminalLook {
  readonly columns: number;
  readonly hasStyles: boolean;
}

/**
 * Formats an answer for a terminal, in lines of its width. Links have numbers, and their URLs are listed after the text. Control characters are
 * removed, so that no text can control the terminal.
 */
export function toTerminalText(markdown: string, { columns, hasStyles }: TerminalLook): string {
  const source = withoutUnsafeCharacters(markdown).replaceAll('\t', '    ');
  return new Renderer(hasStyles).render(blocksOf(source), columns).join('\n');
}

/** The heading of the list that ends an answer with sources. */
const SOURCES = 'Sources:';
const WEB_URL = /https?:\/\/[^\s<>]+/;

class Renderer {
  readonly #hasStyles: boolean;
  /** The URLs of the numbered links, by the key of the page, in the order of the numbers. */
  readonly #links = new Map<string, string>();
  /** The keys of the pages whose URLs are in the text. */
  readonly #shown = new Set<string>();
  #isInSources = false;

  constructor(hasStyles: boolean) {
    this.#hasStyles = hasStyles;
  }

  render(tokens: readonly Token[], columns: number): readonly string[] {
    const lines = this.#blocks(tokens, columns);
    while (lines.at(-1) === '') lines.pop();
    const links = [...this.#links].flatMap(([page, url], index) =>
      this.#shown.has(page) ? [] : `[${index + 1}] ${url}`,
    );
    return links.length === 0 || this.#isInSources ? [...lines, ...links] : [...lines, '', ...links];
  }

  #blocks(tokens: readonly Token[], columns: number): string[] {
    return tokens.flatMap((token) => {
      const hasBlankAfter = /\n *\n *$/.test(token.raw);
      return [...this.#block(known(token), Math.max(columns, MIN_COLUMNS)), ...(hasBlankAfter ? [''] : [])];
    });
  }

  #block(token: MarkedToken, columns: number): readonly string[] {
    switch (token.type) {
      case 'space':
        return [];
      case 'heading':
        return wrapped(this.#styled('bold', this.#inline(token.tokens)), columns);
      case 'paragraph':
      case 'text':
        if (token.raw.trim() === SOURCES) this.#isInSources = true;
        return wrapped(this.#inline(token.tokens ?? [token]), columns);
      case 'hr':
        return ['─'.repeat(columns)];
      case 'blockquote':
        return this.#blocks(token.tokens, columns - 2).map((line) => `│ ${line}`);
      case 'code':
        return token.text.split('\n').map((line) => `    ${this.#styled('cyan', line)}`);
      case 'list':
        return this.#list(token, columns);
      case 'table':
        return this.#table(token, columns);
      default:
        return token.raw.trimEnd().split('\n');
    }
  }

  #list({ items, ordered, start }: Tokens.List, columns: number): readonly string[] {
    return items.flatMap((item, index) => {
      const number = this.#isInSources ? this.#numberOf(WEB_URL.exec(item.raw)?.[0] ?? '') : 0;
      const bullet = number > 0 ? `[${number}] ` : ordered ? `${Number(start) + index}. ` : '• ';
      const [box, ...others] = item.tokens;
      const isTask = box?.type === 'checkbox';
      const marker = isTask ? bullet + box.raw : bullet;
      const lines = hanging(marker, this.#blocks(isTask ? others : item.tokens, columns - marker.length));
      return /\n *\n$/.test(item.raw) ? [...lines, ''] : lines;
    });
  }

  /** Formats a table in columns or, if it is too wide, each row as a list of its cells. */
  #table({ header, rows }: Tokens.Table, columns: number): readonly string[] {
    const titles = header.map(({ tokens }) => this.#styled('bold', this.#inline(tokens)));
    const cells = rows.map((row) => row.map(({ tokens }) => this.#inline(tokens)));
    const widths = titles.map((title, index) =>
      cells.reduce((width, row) => Math.max(width, stringWidth(row[index] ?? '')), stringWidth(title)),
    );
    if (widths.reduce((sum, width) => sum + width + 2, -2) > columns) {
      return cells.flatMap(([first = '', ...others]) => [
        ...wrapped(first, columns),
        ...others.flatMap((cell, index) => hanging('  ', wrapped(`${titles[index + 1]}: ${cell}`, columns - 2))),
      ]);
    }
    const toLine = (row: readonly string[]) =>
      row
        .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - stringWidth(cell)))
        .join('  ')
        .trimEnd();
    return [toLine(titles), widths.map((width) => '─'.repeat(width)).join('  '), ...cells.map(toLine)];
  }

  #inline(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#span(known(token))).join('');
  }

  #span(token: MarkedToken): string {
    switch (token.type) {
      case 'strong':
        return this.#styled('bold', this.#inline(token.tokens));
      case 'em':
        return this.#styled('italic', this.#inline(token.tokens));
      case 'codespan':
        return this.#styled('cyan', token.text);
      case 'br':
        return '\n';
      case 'escape':
        return token.text;
      case 'link':
      case 'image':
        return this.#link(token);
      default:
        return token.raw;
    }
  }

  #link(token: Tokens.Link | Tokens.Image): string {
    const { href, raw, text, tokens } = token;
    if (!WEB_URL.test(href)) return raw;
    const page = pageKey(href);
    const isUrl = isBareUrl(token);
    if (isUrl || this.#isInSources) this.#shown.add(page);
    if (isUrl) return text;
    const label = this.#styled('underlined', (tokens && this.#inline(tokens)) || text || href);
    if (this.#isInSources) return `${label}: ${href}`;
    if (!this.#links.has(page)) this.#links.set(page, href);
    return `${label}\u00A0[${this.#numberOf(href)}]`;
  }

  /** The number of a page that the text links to; 0 for another page. */
  #numberOf(url: string): number {
    return [...this.#links.keys()].indexOf(pageKey(url)) + 1;
  }

  #styled(style: Style, text: string): string {
    return styled(style, text, this.#hasStyles);
  }
}
