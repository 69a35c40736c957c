import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { join } from 'node:path';

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

/** The page for people at `/`, which asks its questions of the MCP endpoint at `mcpPath`. Its files are not secret: it asks for the token itself. */
export function pageIn(folder: string, mcpPath: string) {
  const files = new Map<string, Buffer>();
  const send = (path: string, response: ServerResponse): void => {
    const [name, type] = TYPES[path] ?? ['', ''];
    let body = files.get(path);
    if (body === undefined) {
      const text = readFileSync(join(folder, name), 'utf8');
      body = Buffer.from(text.replace('{{mcp-path}}', () => escapeHtml(mcpPath)));
      files.set(path, body);
    }
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length, ...HEADERS }).end(body);
  };
  return { owns: (path: string) => Object.hasOwn(TYPES, path), send };
}

/** For the value of an attribute in double quotes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
