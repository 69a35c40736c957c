import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import type { JsonRpcMessage } from '../support/mcp-output.ts';
import { type McpProcess, type ServerOptions, startServer } from '../support/mcp-process.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const BUILT_PROGRAM = fileURLToPath(new URL('../../build/index.js', import.meta.url));

/** Looks like a real key, so that everything that masks keys finds it. */
export const API_KEY = 'sk-proj-E2eKey0123456789abcdefghij';

/** The output contract. */
export interface AnswerJson {
  readonly answer: string;
  readonly used_search: boolean;
  readonly citations: readonly { readonly url: string; readonly title?: string; readonly published_at?: string }[];
  readonly model: string;
}

/** A fake API for one test. */
export async function fakeApi(): Promise<FakeApi> {
  const api = await startFakeApi();
  onTestFinished(() => api.close());
  return api;
}

/** A server process for one test. */
export function serve(options: ServerOptions = {}): McpProcess {
  const server = startServer(options);
  onTestFinished(() => server.dispose());
  return server;
}

/** A fake API for one test, and a server process that has a key and uses it. */
export async function serveWithApi(options: ServerOptions = {}): Promise<{ api: FakeApi; server: McpProcess }> {
  const api = await fakeApi();
  return { api, server: serve({ ...options, env: { ...apiEnv(api), ...options.env } }) };
}

/** The variables that make the program use the fake API. */
export function apiEnv(api: FakeApi): Record<string, string> {
  return { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: api.url };
}

/** The text of a successful call. */
export function textOf({ result, error }: JsonRpcMessage): string {
  if (result === undefined) throw new Error(`The call failed: ${JSON.stringify(error)}`);
  const [first] = result.content as readonly { readonly type: string; readonly text: string }[];
  if (first?.type !== 'text') throw new Error(`The result contains no text: ${JSON.stringify(result)}`);
  return first.text;
}

/** The answer of a successful call. */
export function answerOf(response: JsonRpcMessage): AnswerJson {
  return JSON.parse(textOf(response)) as AnswerJson;
}

/** The message of a failed call: `data.message` of its error. */
export function failureOf({ error, result }: JsonRpcMessage): string {
  if (error === undefined) throw new Error(`The call did not fail: ${JSON.stringify(result)}`);
  return String((error.data as { readonly message?: unknown } | undefined)?.message);
}

/** Today in Asia/Tokyo, as the program must write it. */
export function tokyoToday(): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Tokyo' }).format(new Date());
}
