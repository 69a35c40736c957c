import type { Application } from '../../../application/application.ts';
import type { Check } from '../../../application/diagnose-setup.ts';
import { createRedactor, isSendableKey, type Redactor } from '../../../domain/redaction.ts';
import { wordsFor } from '../error-words.ts';

export interface DoctorOptions {
  readonly application: Application;
  readonly redactor: Redactor;
  /** As `process.versions.node`. */
  readonly nodeVersion: string;
  /** Where the configuration was read from, in words. */
  readonly configSources: string;
  readonly apiKey: { readonly variable: string; readonly value?: string };
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
  const { redactor } = options;
  return report(checks(options, signal), redactor, options, signal);
}

/** What doctor says of a configuration that cannot be used: every problem, as a check that failed. */
export async function doctorOfProblems(
  nodeVersion: string,
  problems: readonly string[],
  print: Pick<DoctorOptions, 'json' | 'out'>,
): Promise<number> {
  const found = [
    checkNode(nodeVersion),
    ...problems.map(
      (problem): Advised => ({ name: 'configuration', verdict: 'failed', detail: 'wrong', advice: problem }),
    ),
  ];
  return report(found, createRedactor([]), print, new AbortController().signal);
}

type Advised = Check & { readonly advice?: string };

async function report(
  found: AsyncIterable<Advised> | Iterable<Advised>,
  redactor: Redactor,
  { json, out }: Pick<DoctorOptions, 'json' | 'out'>,
  signal: AbortSignal,
): Promise<number> {
  const lines: Shown[] = [];
  for await (const check of found) {
    if (signal.aborted) return 130;
    const shown = toShown(check, redactor);
    lines.push(shown);
    if (!json) out(`${toLine(shown)}\n`);
  }
  const isWell = lines.every(({ verdict }) => verdict !== 'failed');
  if (json) out(`${JSON.stringify({ ok: isWell, checks: lines }, undefined, 2)}\n`);
  return isWell ? 0 : 1;
}

async function* checks(options: DoctorOptions, signal: AbortSignal): AsyncGenerator<Advised> {
  const { application, nodeVersion, configSources, apiKey, isOffline } = options;
  yield checkNode(nodeVersion);
  yield { name: 'configuration', verdict: 'ok', detail: configSources };
  if (isOffline) {
    yield {
      name: 'adapter',
      verdict: 'ok',
      detail: 'offline: answers come from recordings, so no key or network is needed',
    };
    return;
  }
  const key = checkKey(apiKey.variable, apiKey.value);
  yield key;
  yield* application.diagnoseSetup(key.verdict === 'ok', signal);
}

function checkNode(version: string): Advised {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return { name: 'node', verdict: 'ok', detail: version };
  const advice = `${version} is too old. Install Node.js ${OLDEST_NODE} or later.`;
  return { name: 'node', verdict: 'failed', detail: version, advice };
}

function checkKey(variable: string, value: string | undefined): Check {
  const name = 'key';
  if (value === undefined) return { name, verdict: 'failed', detail: 'none', error: { kind: 'no_api_key', variable } };
  return isSendableKey(value)
    ? { name, verdict: 'ok', detail: `from ${variable}` }
    : { name, verdict: 'failed', detail: 'malformed', error: { kind: 'malformed_api_key', variable } };
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
