import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject } from './api-response.ts';
import { isRunning, STDIO_SERVER } from './process-tree.ts';

/** What the server does with a call. */
export type Reaction = { readonly args?: object } & (
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }
);

export interface ScriptedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly outputSchema?: object;
  readonly annotations?: object;
  readonly reactions: readonly Reaction[];
}

type ServerEvent =
  | { readonly event: 'start'; readonly pid: number }
  | { readonly event: 'call'; readonly name: string; readonly args: JsonObject };

/** The script of an MCP server over stdio, and what its processes have logged. */
export interface ScriptedServer {
  /** For `command` and `args` of a server in the configuration. */
  readonly command: string;
  readonly args: readonly string[];
  readonly events: () => readonly ServerEvent[];
  /** The calls that arrived, in order, as `name {"args":"..."}`. */
  readonly calls: () => readonly string[];
  /** The processes that were started and are still running. */
  readonly running: () => readonly number[];
}

/** Writes the script of a server for one test. */
export function scriptedServer(tools: readonly ScriptedTool[]): ScriptedServer {
  const folder = mkdtempSync(join(tmpdir(), 'scripted-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'script.json');
  const log = join(folder, 'log');
  const listed = tools.map(
    ({ name, description = `The tool ${name}.`, inputSchema = ANY, outputSchema, annotations }) => ({
      name,
      description,
      inputSchema,
      outputSchema,
      annotations,
    }),
  );
  const calls = Object.fromEntries(tools.map(({ name, reactions }) => [name, reactions]));
  writeFileSync(script, JSON.stringify({ tools: listed, calls, log }));
  const events = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as ServerEvent)
      : [];
  return {
    command: process.execPath,
    args: [STDIO_SERVER, '--tools=scripted', script],
    events,
    calls: () => events().flatMap((one) => (one.event === 'call' ? [`${one.name} ${JSON.stringify(one.args)}`] : [])),
    running: () => events().flatMap((one) => (one.event === 'start' && isRunning(one.pid) ? [one.pid] : [])),
  };
}

/** A result with one text. */
export function text(text: string, more: object = {}): { readonly result: object } {
  return { result: { content: [{ type: 'text', text }], ...more } };
}

const ANY = { type: 'object' };
