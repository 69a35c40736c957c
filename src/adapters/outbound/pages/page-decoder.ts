import { TextDecoder } from 'node:util';

/** Number of bytes at the start of a page that may name its encoding (WHATWG HTML, 13.2.3.2). */
const SNIFFED_BYTES = 1024;

/** Decodes a page as browsers do: a byte order mark, the header, or a `<meta>` names the encoding; the default is UTF-8. */
export function decoderFor(start: Uint8Array, contentType: string): TextDecoder {
  const text = String.fromCharCode(...start.subarray(0, SNIFFED_BYTES));
  const mark = text.startsWith('\u00FE\u00FF') ? 'utf-16be' : text.startsWith('\u00FF\u00FE') ? 'utf-16le' : undefined;
  const named = CHARSET.exec(contentType)?.[1] ?? /<meta\b[^>]*?\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(text)?.[1];
  try {
    return new TextDecoder(text.startsWith(UTF_8_MARK) ? 'utf-8' : (mark ?? named));
  } catch {
    return new TextDecoder();
  }
}

const CHARSET = /\bcharset\s*=\s*["']?([\w:.-]+)/i;
const UTF_8_MARK = '\u00EF\u00BB\u00BF';
