import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { join } from 'node:path';

/** A file of the page, as it is sent. */
interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const TYPES: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
};

/** The page loads nothing from elsewhere, runs no inline script, and cannot be put into a frame. Images come from answers, as data. */
const HEADERS: OutgoingHttpHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; media-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

/** The page for people at `/`. Its files are not secret: it asks for the token itself. */
export class Page {
  readonly #folder: string;
  readonly #mcpPath: string;
  readonly #files = new Map<string, PageFile>();

  /** `mcpPath` is that of the MCP endpoint, of which the page asks its questions. */
  constructor(folder: string, mcpPath: string) {
    this.#folder = folder;
    this.#mcpPath = mcpPath;
  }

  fileOf(path: string): PageFile | undefined {
    const [name, type] = Object.hasOwn(TYPES, path) ? (TYPES[path] ?? []) : [];
    if (name === undefined || type === undefined) return undefined;
    const file = this.#files.get(path) ?? { type, body: this.#read(name) };
    this.#files.set(path, file);
    return file;
  }

  #read(name: string): Buffer {
    const text = readFileSync(join(this.#folder, name), 'utf8');
    return Buffer.from(name === 'index.html' ? text.replace('{{mcp-path}}', () => escapeHtml(this.#mcpPath)) : text);
  }

  send({ type, body }: PageFile, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length, ...HEADERS }).end(body);
  }
}

/** For the value of an attribute in double quotes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
