import { TextDecoder } from 'node:util';

/** The encodings of texts, in the order in which they are tried. Text in EUC-JP can be mistaken for Shift_JIS, but hardly the other way around. */
const ENCODINGS = ['utf-8', 'euc-jp', 'shift_jis'];

/** A text in UTF-8, in UTF-16 with a byte order mark, as PowerShell writes it, or in an encoding of Japanese systems; undefined if it is none of these. */
export function decodedText(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  const marked =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
  if (marked !== undefined) return new TextDecoder(marked).decode(bytes);
  if (bytes.includes(0)) return undefined;
  for (const encoding of ENCODINGS) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      // Bytes of Shift_JIS that are none of EUC-JP become control characters.
      if (!/[\u0080-\u009F]/.test(text)) return text;
    } catch {
      // It is in another encoding.
    }
  }
  return undefined;
}
