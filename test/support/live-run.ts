import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { live } from '../../scripts/live/main.js';
import type { FakeApi } from './fake-api.ts';
import { LIVE_KEY } from './live-api.ts';

export interface Terminal {
  readonly environment: NodeJS.ProcessEnv;
  readonly root: string;
  readonly folder: string;
  readonly out: (text: string) => unknown;
  readonly confirm?: (question: string) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly now?: () => number;
  /** Of a look at a response, or of its cancellation. */
  readonly limitMs?: number;
}

/** An entry of `live-report.json`. */
export interface LiveEntry {
  readonly name: string;
  readonly group: string;
  readonly place: string;
  readonly assumption: string;
  readonly verdict: 'confirmed' | 'contradicted' | 'unknown';
  readonly seen: string;
  readonly note?: { readonly id: string; readonly at: string; readonly account: string } | null;
}

export function newLiveFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'live-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `npm run live` in this process. */
export async function runLive(api: FakeApi, args: readonly string[], over: Partial<Terminal> = {}) {
  onTestFinished(() => api.close());
  const printed: string[] = [];
  const environment = {
    PATH: process.env.PATH,
    OPENAI_API_KEY: LIVE_KEY,
    OPENAI_BASE_URL: api.url,
    ...over.environment,
  };
  const terminal: Terminal = {
    root: process.cwd(),
    folder: newLiveFolder(),
    out: (text) => printed.push(text),
    signal: new AbortController().signal,
    sleep: async () => {},
    ...over,
    environment,
  };
  const code = await live(args, terminal);
  return { code, printed: printed.join(''), folder: terminal.folder, checks: readChecks(terminal.folder) };
}

/** The entries of the report by name; empty without a report. */
export function readChecks(folder: string): ReadonlyMap<string, LiveEntry> {
  if (!readdirSync(folder).includes('live-report.json')) return new Map();
  const { checks } = JSON.parse(readFileSync(path.join(folder, 'live-report.json'), 'utf8')) as { checks: LiveEntry[] };
  return new Map(checks.map((entry) => [entry.name, entry]));
}
