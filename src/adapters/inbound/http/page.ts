import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { escapeHtml } from '../html.ts';
import type { HttpEnv } from './request.ts';

/** The files of the page by their paths. */
const FILES = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page.css', 'page.css', 'text/css; charset=utf-8'],
  ['/page.js', 'page.js', 'text/javascript; charset=utf-8'],
] as const;

/** The page loads nothing from elsewhere, runs no inline script, and cannot be put into a frame. Images and sounds in results are data. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; media-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

interface PageOptions {
  /** The path of the MCP endpoint, to which the page sends its questions. */
  readonly mcpPath: string;
  /** The issuer at which people sign in, if any. The page itself has no sign-in. */
  readonly oauth: { readonly issuer: string; readonly resource: string } | undefined;
}

/** Serves the page for people at `/`. Its files are not secret: it asks for the token itself. */
export function pageIn(folder: string, { mcpPath, oauth }: PageOptions) {
  const values: Readonly<Record<string, string>> = { 'mcp-path': mcpPath, issuer: '', resource: '', ...oauth };
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const app = new Hono<HttpEnv>();
  for (const [path, name, type] of FILES) {
    if (path === mcpPath) continue;
    let body: string | undefined;
    app.get(path, (c) => {
      body ??= path === '/' ? filled(read(name), values) : read(name);
      return c.body(body, 200, { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(body)), ...HEADERS });
    });
  }
  return app;
}

/** Replaces each `{{name}}` in the HTML by its value. */
function filled(html: string, values: Readonly<Record<string, string>>): string {
  return html.replace(/\{\{([\w-]+)\}\}/g, (_, name: string) => escapeHtml(values[name] ?? ''));
}
