/** Elements whose content is not part of the text of a page. */
const SKIPPED = /<(head|script|style|svg|template|noscript|nav|footer|pre)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** Code with a URL, as Markdown has it between backticks. */
const CODE = /<(code|pre)\b[^<>]{0,300}>(?:[^<]|<(?!code\b|pre\b|\/\1>)){0,1000}<\/\1>/gi;
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
/** Matches a number that links to the list of sources. */
const NUMBER = /<a\b[^<>]{0,300}href=["']?#[^<>]{0,300}>\s*\[?(\d{1,3})\]?\s*<\/a>/gi;
const TAG = /<(\/?)([a-z][a-z0-9]*)\b([^<>]*)>/gi;
const BLOCK =
  /^\/?(?:address|article|aside|blockquote|body|br|caption|d[dlt]|div|figure|figcaption|h[1-6]|hr|html|li|main|ol|p|section|table|tr|ul)$/;
/** Entities of punctuation, and of characters in figures. */
const ENTITIES = new Map(
  Object.entries({
    ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”' },
    ...{ nbsp: ' ', ensp: ' ', emsp: ' ', thinsp: '\u2009', hellip: '…', ndash: '–', mdash: '—', minus: '−' },
    ...{ times: '×', percnt: '%', deg: '°', frac12: '½', sup2: '²', euro: '€', pound: '£', yen: '¥' },
  }),
);

const DOCUMENT = /^\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html|body|main|article)\b/i;
const MARKDOWN = /^ {0,3}(?:#{1,6} |[-*+] |```)|\]\(|<https?:/im;

/** Whether a text is HTML: a document, or a part of one without Markdown. */
function isHtml(text: string): boolean {
  const isElement = /^\s*<[a-z][a-z0-9]*[\s>]/i.test(text) && text.trimEnd().endsWith('>');
  return DOCUMENT.test(text.slice(0, 1000)) || (isElement && !MARKDOWN.test(text));
}

/** Converts the links of HTML to Markdown. If the text is HTML, also its paragraphs, headings, rows, and items of lists with their numbers. */
export function withMarkdownLinks(text: string): string {
  const isOnlyHtml = isHtml(text);
  const shown = isOnlyHtml ? text.replace(SKIPPED, ' ').replace(/\s+/g, ' ') : text;
  let target: string | undefined;
  let item = 0;
  const markdown = shown
    .replace(COMMENT, ' ')
    .replace(CODE, (code) => (code.includes('://') ? ' ' : code))
    .replace(NUMBER, '[$1]')
    .replace(TAG, (tag, slash: string, written: string, attributes: string) => {
      const name = slash + written.toLowerCase();
      if (name === 'a' || name === '/a') {
        const closing = target === undefined ? '' : `](${target})`;
        target = targetIn(attributes);
        return target === undefined ? closing : `${closing}[`;
      }
      if (!isOnlyHtml) return name === 'img' ? ' ' : tag;
      if (name === 'ol') item = 0;
      if (name === 'li') {
        item += 1;
        return `\n\n${item}. `;
      }
      if (/^t[dh]$/.test(name)) return ' | ';
      if (/^h[1-6]$/.test(name)) return '\n\n# ';
      return BLOCK.test(name) ? '\n\n' : '';
    });
  // The first paragraph of an item is on the line of its number.
  const joined = markdown.replace(/(\n\n\d+\. )\s*\n\n(?!\d+\. )/g, '$1');
  return joined.replace(/&(#x?)?(\w{1,8});/gi, (entity, number: string | undefined, name: string) => {
    if (number === undefined) return ENTITIES.get(name) ?? entity;
    const code = Number.parseInt(name, number === '#' ? 10 : 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/** The complete URL to which a tag links. */
function targetIn(attributes: string): string | undefined {
  const [, double, single, bare = ''] = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? [];
  const url = (double ?? single ?? bare).trim();
  return /^https?:/i.test(url) ? url.replace(/\s/g, '%20') : undefined;
}
