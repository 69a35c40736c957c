import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../support/run-cli.ts';
import type { Json } from './api.ts';

const VARIABLES = /^(?:OPENAI_.*|MODEL_.*|.*_PROXY)$/i;

/** Asks the built program with your key, and with nothing else of your configuration. */
export async function askProgram(
  args: readonly string[],
  env: object = {},
): Promise<{ code: number | null; json: Json }> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    VARIABLES.test(name) && value !== undefined ? [[name, value]] : [],
  );
  const { code, stdout } = await runCli(['ask', '--json', ...args], {
    env: { ...Object.fromEntries(own), ...env },
    timeoutMs: 600_000,
  });
  return { code, json: JSON.parse(stdout) };
}

/** The conversation of the program with the API, as it records it: the requests, in order. */
export async function requestsOf(args: readonly string[]): Promise<readonly Json[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'live-'));
  try {
    await askProgram([`--record=${folder}`, ...args]);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /request\.json$/.test(name),
    );
    return files.toSorted().map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Every value of a member `type` in the replies of this repository. */
export function knownTypes(): ReadonlySet<string> {
  const folder = path.join(import.meta.dirname, '..', 'fixtures', 'replies');
  const texts = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));
  return new Set(texts.flatMap((text) => text.match(/(?<="type": ?")[\w.]+/g) ?? []));
}
