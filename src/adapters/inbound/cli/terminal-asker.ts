import type { Asker, Elicitation, ElicitationAnswer } from '../../../domain/gateway/elicitation.ts';
import { ASKABLE, askedText } from '../../../domain/gateway/elicitation.ts';
import { cleanLine, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { FORM } from '../words/form-messages.ts';
import { type FormField, formFields } from './form-fields.ts';

/** What a person typed: a line, or a key that ends the question. */
export type Typed = { readonly line: string } | { readonly action: 'decline' | 'cancel' };

/** The lines that a person types, for one question. */
export interface TypedLines {
  /** Shows the prompt, and waits for a line. Resolves with `cancel` when the question ends without the person. */
  next(prompt: string): Promise<Typed>;
  close(): void;
}

interface TerminalAskerOptions {
  /** Begins to read what the person types. `signal` ends it. */
  readonly open: (signal: AbortSignal) => TypedLines;
  /** Writes one line to the terminal. */
  readonly say: (line: string) => void;
}

/** Asks the person at this terminal, one question after the other. */
export function terminalAsker(options: TerminalAskerOptions): Asker {
  let last: Promise<unknown> = Promise.resolve();
  return {
    declared: ASKABLE,
    ask: (elicitation, signal) => {
      const answer = last.then(() => askOne(elicitation, options, signal));
      last = answer;
      return answer;
    },
  };
}

async function askOne(
  elicitation: Elicitation,
  { open, say }: TerminalAskerOptions,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  if (signal.aborted) return { action: 'cancel' };
  const [first = '', ...others] = askedText(elicitation).trim().split('\n');
  say(`${first} ${FORM.keys}`);
  for (const line of others) say(line);
  const lines = open(signal);
  try {
    return elicitation.mode === 'url'
      ? await visit(elicitation.url, lines, say)
      : await fillIn(formFields(elicitation.schema), lines, say);
  } finally {
    lines.close();
  }
}

/** Shows a URL with its host, so that a person sees where it leads. It is never opened by itself. */
async function visit(url: string, lines: TypedLines, say: (line: string) => void): Promise<ElicitationAnswer> {
  const host = URL.canParse(url) ? cleanLine(new URL(url).host) : '';
  say(host === '' ? FORM.openUrl : FORM.openAt(host));
  say(cleanLine(url));
  return confirm(FORM.enter, { lines, say });
}

async function fillIn(
  fields: readonly FormField[],
  lines: TypedLines,
  say: (line: string) => void,
): Promise<ElicitationAnswer> {
  if (fields.length === 0) return confirm(FORM.enter, { lines, say, more: { content: {} } });
  const content: [string, unknown][] = [];
  for (const field of fields) {
    const typed = await askField(field, lines, say);
    if ('action' in typed) return typed;
    if (typed.value !== undefined) content.push([field.name, typed.value]);
  }
  return { action: 'accept', content: Object.fromEntries(content) as JsonObject };
}

/** Waits for an empty line. */
async function confirm(
  prompt: string,
  {
    lines,
    say,
    more = {},
  }: {
    readonly lines: TypedLines;
    readonly say: (line: string) => void;
    readonly more?: { readonly content?: JsonObject };
  },
): Promise<ElicitationAnswer> {
  for (;;) {
    const typed = await lines.next(prompt);
    if ('action' in typed) return typed;
    if (typed.line.trim() === '') return { action: 'accept', ...more };
    say(FORM.accept);
  }
}

/** The value of a field, which is asked until it is valid; undefined if it is left out. */
async function askField(field: FormField, lines: TypedLines, say: (line: string) => void) {
  for (;;) {
    const typed = await lines.next(field.prompt);
    if ('action' in typed) return typed;
    const line = withoutUnsafeCharacters(typed.line).trim();
    const isEmpty = line === '';
    if (isEmpty && (field.preset !== undefined || !field.isRequired)) return { value: field.preset };
    if (isEmpty) {
      say(FORM.required);
      continue;
    }
    const read = field.read(line);
    if (read.isOk()) return { value: read.value };
    say(read.error);
  }
}
