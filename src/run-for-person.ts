import { ask } from './adapters/inbound/cli/ask.ts';
import type { Command } from './adapters/inbound/cli/command-line.ts';
import { wordsForProblem } from './adapters/inbound/cli/config-problems.ts';
import { doctor, doctorOfProblems } from './adapters/inbound/cli/doctor.ts';
import type { ConfigProblem } from './application/ports/config.ts';
import type { Program } from './program.ts';

/** Runs a command that a person waits for, and may break off with Ctrl-C. */
export async function runForPerson(
  command: Extract<Command, { kind: 'ask' | 'doctor' }>,
  program: Program,
): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
  if (command.kind === 'doctor') return runDoctor(command.json, program, interrupted.signal);
  return ask({ ...program, ...command, out: print, err: process.stderr }, interrupted.signal);
}

function runDoctor(json: boolean, program: Program, signal: AbortSignal): Promise<number> {
  const { openai, llm, shown } = program.config;
  const { yaml, env, cli } = shown.sources;
  return doctor(
    {
      ...program,
      nodeVersion: process.versions.node,
      configSources: ['defaults', ...(yaml === undefined ? [] : [yaml]), ...env, ...cli].join(', '),
      apiKey: { variable: openai.apiKeyVariable, ...(openai.apiKey === undefined ? {} : { value: openai.apiKey }) },
      isOffline: llm.adapter === 'offline',
      json,
      out: print,
    },
    signal,
  );
}

/** What doctor has to say if not even the configuration can be read. */
export function runDoctorOfProblems(json: boolean, problems: readonly ConfigProblem[]): Promise<number> {
  return doctorOfProblems(process.versions.node, problems.map(wordsForProblem), { json, out: print });
}

function print(text: string): void {
  process.stdout.write(text);
}
