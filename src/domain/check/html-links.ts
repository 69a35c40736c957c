/** Elements of a page whose text is no part of what it says, with their content. */
const SKIPPED = /<(head|script|style|svg|template|noscript|nav|footer|pre)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
const TAG = /<(\/?)([a-z][a-z0-9]*)\b([^<>]*)>/gi;
const BLOCK =
  /^(?:address|article|aside|blockquote|body|br|caption|d[dlt]|div|figure|figcaption|h[1-6]|hr|html|li|main|ol|p|section|table|tr|ul)$/;
const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }));

export function isHtmlDocument(text: string): boolean {
  return /^\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html|body|main|article)\b/i.test(text.slice(0, 1000));
}

/** The links of HTML as Markdown. Of a document, also its paragraphs, headings, lists and rows. `base`: where relative links start. */
export function withMarkdownLinks(text: string, base?: string): string {
  const isDocument = isHtmlDocument(text);
  const shown = isDocument ? text.replace(SKIPPED, ' ').replace(/\s+/g, ' ') : text;
  let target: string | undefined;
  /** The number of the last item; undefined in a list without numbers. */
  let item: number | undefined;
  const markdown = shown
    .replace(COMMENT, ' ')
    .replace(/<sup\b[^<>]*>\s*(?:<a\b[^<>]*href=["']?#[^<>]*>)?\[?(\d{1,3})\]?(?:<\/a>)?\s*<\/sup>/gi, '[$1]')
    .replace(TAG, (tag, slash: string, written: string, attributes: string) => {
      const name = written.toLowerCase();
      const isOpening = slash === '';
      if (name === 'a') {
        const closing = target === undefined ? '' : `](${target})`;
        target = isOpening ? targetIn(attributes, base) : undefined;
        return target === undefined ? closing : `${closing}[`;
      }
      if (!isDocument) return name === 'img' ? ' ' : tag;
      if (name === 'ol' || name === 'ul') item = isOpening && name === 'ol' ? 0 : undefined;
      if (name === 'li' && isOpening) {
        if (item !== undefined) item += 1;
        return item === undefined ? '\n\n- ' : `\n\n${item}. `;
      }
      if (name === 'td' || name === 'th') return ' | ';
      if (isOpening && /^h[1-6]$/.test(name)) return '\n\n# ';
      return BLOCK.test(name) ? '\n\n' : '';
    });
  return markdown.replace(/&(#x?)?(\w{1,8});/gi, (entity, number: string | undefined, name: string) => {
    if (number === undefined) return ENTITIES.get(name) ?? entity;
    const code = Number.parseInt(name, number === '#' ? 10 : 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

function targetIn(attributes: string, base: string | undefined): string | undefined {
  const [, double, single, bare = ''] = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? [];
  const href = (double ?? single ?? bare).trim().replaceAll('&amp;', '&');
  const isRelative = base !== undefined && !/^(?:#|[a-z][a-z0-9+.-]*:)/i.test(href) && URL.canParse(href, base);
  const url = isRelative ? new URL(href, base).href : href;
  return /^https?:/i.test(url) ? url.replace(/\s/g, '%20') : undefined;
}
