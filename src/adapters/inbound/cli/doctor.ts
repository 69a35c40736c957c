import type { Application } from '../../../application/application.ts';
import type { Check } from '../../../application/diagnose-setup.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import { wordsFor } from '../error-words.ts';

export interface DoctorOptions {
  readonly application: Application;
  readonly redactor: Redactor;
  /** As `process.versions.node`. */
  readonly nodeVersion: string;
  /** Where the configuration was read from, in words. */
  readonly configSources: string;
  readonly apiKey: { readonly variable: string; readonly isPresent: boolean };
  readonly isOffline: boolean;
  readonly json: boolean;
  readonly out: (text: string) => void;
}

const OLDEST_NODE = 20;
const MARKS: Readonly<Record<Check['verdict'], string>> = {
  ok: 'ok',
  warning: 'WARN',
  failed: 'FAIL',
  skipped: 'skip',
};

/** Checks the way from this machine to an answer, one line each; the exit code is 0 if nothing failed. Shows no key. */
export async function doctor(options: DoctorOptions, signal: AbortSignal): Promise<number> {
  const { json, out, redactor } = options;
  const lines: Shown[] = [];
  for await (const check of checks(options, signal)) {
    if (signal.aborted) return 130;
    const shown = toShown(check, redactor);
    lines.push(shown);
    if (!json) out(`${toLine(shown)}\n`);
  }
  const isWell = lines.every(({ verdict }) => verdict !== 'failed');
  if (json) out(`${JSON.stringify({ ok: isWell, checks: lines }, undefined, 2)}\n`);
  return isWell ? 0 : 1;
}

async function* checks(
  options: DoctorOptions,
  signal: AbortSignal,
): AsyncGenerator<Check & { readonly advice?: string }> {
  const { application, nodeVersion, configSources, apiKey, isOffline } = options;
  const isNewEnough = Number.parseInt(nodeVersion, 10) >= OLDEST_NODE;
  yield isNewEnough
    ? { name: 'node', verdict: 'ok', detail: nodeVersion }
    : { name: 'node', verdict: 'failed', detail: nodeVersion, advice: `Install Node.js ${OLDEST_NODE} or later.` };
  yield { name: 'configuration', verdict: 'ok', detail: configSources };
  if (isOffline) {
    yield {
      name: 'adapter',
      verdict: 'ok',
      detail: 'offline: answers come from recordings, so no key or network is needed',
    };
    return;
  }
  yield apiKey.isPresent
    ? { name: 'key', verdict: 'ok', detail: `from ${apiKey.variable}` }
    : { name: 'key', verdict: 'failed', detail: 'none', error: { kind: 'no_api_key', variable: apiKey.variable } };
  yield* application.diagnoseSetup(apiKey.isPresent, signal);
}

/** A check as it is printed; `todo` says what happened and what to do where it did not go well. */
interface Shown {
  readonly name: string;
  readonly verdict: Check['verdict'];
  readonly detail: string;
  readonly todo?: string;
}

function toShown(
  { name, verdict, detail, error, advice }: Check & { readonly advice?: string },
  redactor: Redactor,
): Shown {
  const todo = error === undefined ? advice : wordsFor(error);
  return {
    name,
    verdict,
    detail: redactor.inLogs(detail),
    ...(todo === undefined ? {} : { todo: redactor.inLogs(todo) }),
  };
}

function toLine({ name, verdict, detail, todo }: Shown): string {
  return `${MARKS[verdict].padEnd(4)}  ${name}: ${todo ?? detail}`;
}
