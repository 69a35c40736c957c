import { type ChildProcess, spawn } from 'node:child_process';
import { withDeadline } from '../../../application/async/deadline.ts';
import { Places } from '../../../application/async/places.ts';
import type { Clock } from '../../../application/ports/services.ts';
import { readBytes } from '../network/read-bytes.ts';

/** The text of a PDF in UTF-8, in which form feeds end pages, or why it has none. */
type PdfText =
  | { readonly bytes: Uint8Array; readonly isCut: boolean }
  | { readonly reason: 'no_pdf' | 'bad_pdf' | 'large_pdf' | 'timeout' };

/** Maximum size of a document, and of its text, in bytes. */
const MAX_PDF_BYTES = 10_000_000;
const MAX_TEXT_BYTES = 2_000_000;
const MAX_MS = 10_000;
/** Documents at the same time. Others wait before they are received, so that they take no memory. */
const MAX_AT_ONCE = 2;
/** The first bytes in which a PDF names its type, as its readers accept it. */
const HEADER_BYTES = 1024;

/**
 * Reads the text of documents with `pdftotext` of Poppler, in a process of its own: parsers of PDF have errors that hostile documents use. The process gets the
 * document on its standard input, no file, and no variable but the path.
 */
export class PdfReader {
  readonly #clock: Clock;
  readonly #command: string;
  readonly #places = new Places(MAX_AT_ONCE);

  constructor(clock: Clock, command = 'pdftotext') {
    this.#clock = clock;
    this.#command = command;
  }

  /** Reads a document that is being received. Ends soon after `signal` aborts; rejects if the connection breaks. */
  async read(body: AsyncIterable<Uint8Array> | null, signal: AbortSignal): Promise<PdfText> {
    if ((await this.#places.acquire('', undefined, signal)) !== 'acquired') return { reason: 'timeout' };
    try {
      const { bytes, isCut } = await readBytes(body, MAX_PDF_BYTES);
      if (!bytes.subarray(0, HEADER_BYTES).includes('%PDF-')) return { reason: 'bad_pdf' };
      if (isCut) return { reason: 'large_pdf' };
      const { outcome } = await withDeadline(this.#clock, MAX_MS, signal, (limit) => this.#run(bytes, limit));
      return outcome;
    } finally {
      this.#places.release();
    }
  }

  #run(pdf: Uint8Array, signal: AbortSignal): Promise<PdfText> {
    if (signal.aborted) return Promise.resolve({ reason: 'timeout' });
    const { PATH = '' } = process.env;
    const args = ['-q', '-enc', 'UTF-8', '-', '-'];
    const child = spawn(this.#command, args, { env: { PATH }, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
    // It may end before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(pdf);
    return textOf(child, child.stdout, signal);
  }
}

function textOf(child: ChildProcess, output: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<PdfText> {
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  const reading = readBytes(output, MAX_TEXT_BYTES).then((text) => {
    if (text.isCut) end();
    return text;
  });
  return new Promise<PdfText>((resolve, reject) => {
    child.on('error', () => resolve({ reason: 'no_pdf' }));
    child.on('close', (code) => {
      reading.then((text) => {
        if (signal.aborted) resolve({ reason: 'timeout' });
        else resolve(text.isCut || code === 0 ? text : { reason: 'bad_pdf' });
      }, reject);
    });
  }).finally(() => signal.removeEventListener('abort', end));
}
