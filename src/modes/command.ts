import { text } from 'node:stream/consumers';
import { ask } from '../adapters/inbound/cli/ask.ts';
import { type Command, QUESTION_REQUIRED } from '../adapters/inbound/cli/command-line.ts';
import { doctor } from '../adapters/inbound/cli/doctor.ts';
import type { Application } from '../application/application.ts';
import type { Runtime } from '../bootstrap.ts';
import { PROGRAM } from '../version.ts';

const BAD_USAGE = 2;
const INTERRUPTED = 130;

/** Runs a command for a person, who may interrupt it with Ctrl-C at any time, and returns the exit code. */
export async function runCommand(
  command: Extract<Command, { kind: 'ask' | 'doctor' }>,
  application: Application,
  runtime: Runtime,
): Promise<number> {
  const { signal, untilAborted } = interruption();
  const options = { ...runtime, application, out: (text: string) => process.stdout.write(text) };
  const { openai, llm, sources } = runtime.config;
  let code: number;
  if (command.kind === 'ask') {
    const question = command.question ?? (await Promise.race([text(process.stdin), untilAborted]))?.trim();
    if (question === '') process.stderr.write(`${QUESTION_REQUIRED}\nTry ${PROGRAM} --help\n`);
    code = question ? await ask({ ...options, ...command, question, err: process.stderr }, signal) : BAD_USAGE;
  } else {
    const { json } = command;
    const apiKey = { variable: openai.apiKeyVariable, value: openai.apiKey };
    const isOffline = llm.adapter === 'offline';
    const configSources = describeSources(sources);
    code = await doctor({ ...options, json, configSources, apiKey, isOffline }, signal);
  }
  // However slow the reader of standard output is, it gets everything.
  await Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), untilAborted]);
  return signal.aborted ? INTERRUPTED : code;
}

/** A signal that aborts on Ctrl-C, and a promise that resolves then. */
function interruption(): { readonly signal: AbortSignal; readonly untilAborted: Promise<undefined> } {
  const controller = new AbortController();
  const untilAborted = new Promise<undefined>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort());
  return { signal: controller.signal, untilAborted };
}

function describeSources({ yaml, env, cli }: Runtime['config']['sources']): string {
  const sources = ['defaults'];
  if (yaml !== undefined) sources.push(yaml);
  if (env.length > 0) sources.push(`environment: ${env.join(', ')}`);
  if (cli.length > 0) sources.push(`options: ${cli.join(', ')}`);
  return sources.join('; ');
}
