import { ask } from './adapters/inbound/cli/ask.ts';
import type { Command } from './adapters/inbound/cli/command-line.ts';
import { doctor } from './adapters/inbound/cli/doctor.ts';
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
      apiKey: { variable: openai.apiKeyVariable, isPresent: openai.apiKey !== undefined },
      isOffline: llm.adapter === 'offline',
      json,
      out: print,
    },
    signal,
  );
}

function print(text: string): void {
  process.stdout.write(text);
}
