import { createParser } from 'eventsource-parser';
import { isToolName, type ToolName } from '../../../../domain/answers/question.ts';
import {
  asObject,
  asText,
  isObject,
  type JsonObject,
  parseJson,
  withoutUndefined,
} from '../../../../domain/values/json.ts';
import { redactedJson } from '../../../../domain/values/redaction.ts';

/** A recorded reply of the API, and its question. */
export interface Recording {
  /** A stream, or JSON. */
  readonly body: string;
  /** HTTP status of the reply. */
  readonly status: number;
  /** Absent if this program did not record the reply, which is then used only if its file is named. */
  readonly question?: string;
  readonly tool?: ToolName;
  readonly recordedAt?: Date;
}

/** Reads a file in the API's format. The question is in comment lines before a stream, or in a key `recording`. */
export function parseRecording(text: string): Recording {
  const body = text.replace(/^\uFEFF/, '');
  const json = asObject(parseJson(body));
  if (json === undefined) return { body, status: 200, ...namesOf(commentsOf(body)) };
  return { body, status: statusOf(json), ...namesOf(asObject(json.recording) ?? {}) };
}

/** The response of a round. Each response in a stream begins with `response.created`. A body with only one has it for every round. */
export function roundIn(body: string, round: number): string {
  const rounds = roundsIn(body);
  return rounds.length === 1 ? body : (rounds[round] ?? '');
}

/** All rounds of a body; at least one. */
export function roundsIn(body: string): readonly string[] {
  const starts = [...body.matchAll(ROUND_START)].map(({ index }) => index);
  return starts.length <= 1 ? [body] : starts.map((start, round) => body.slice(start, starts[round + 1]));
}

/** Joins the bodies of a conversation to one, in which `roundIn` finds them. A response in JSON becomes a stream of two events. */
export function joinRounds(bodies: readonly string[]): string {
  return (bodies.length === 1 ? bodies : bodies.map(toRound)).join('');
}

const ROUND_START = /^event: ?response\.created\r?$/gm;

function toRound(body: string): string {
  const response = asObject(parseJson(body));
  const events =
    response === undefined
      ? body
      : `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response })}`;
  const opening =
    body.match(ROUND_START) === null ? 'event: response.created\ndata: {"type":"response.created"}\n\n' : '';
  return `${opening}${events.trimEnd()}\n\n`;
}

/** The text of a recording: a body, without keys and headers, and its question. */
export function formatRecording(body: string, question: string, tool: ToolName, recordedAt: Date): string {
  const names = { question: question.replace(/\s+/g, ' '), tool, recorded_at: recordedAt.toISOString() };
  const json = asObject(parseJson(body));
  if (json !== undefined) return `${JSON.stringify({ recording: names, ...json }, undefined, 2)}\n`;
  const comments = Object.entries(names).map(([name, value]) => `: ${name}: ${value}`);
  return `${comments.join('\n')}\n\n${body.trimEnd()}\n\n`;
}

/** The events from which a reply is read. The others have the text in pieces, and a key in pieces would not be masked. */
const READ_EVENTS = /^(?:response\.(?:created|output_item\.done|completed|incomplete|failed|cancelled)|error)$/;

/** The part of a body that is recorded: everything that the reader needs, without keys, and without the instructions, which the API repeats. */
export function toRecordedBody(body: string, redact: (text: string) => string): string {
  const json = asObject(parseJson(body));
  if (json !== undefined) return redactedJson(withoutInstructions(json), redact);
  const events: string[] = [];
  const parser = createParser({
    onEvent: ({ event: name, data }) => {
      const event = asObject(parseJson(data)) ?? {};
      const type = asText(event.type) ?? name ?? '';
      if (READ_EVENTS.test(type))
        events.push(`event: ${type}\ndata: ${redactedJson(withoutInstructions(event), redact)}\n\n`);
    },
  });
  parser.feed(`${body}\n\n`);
  return events.join('');
}

/** Removes the instructions from a response, or from an event with one. The system policy is the user's, and not a part of the reply. */
function withoutInstructions(value: JsonObject): JsonObject {
  const own = value.instructions === undefined ? value : { ...value, instructions: null };
  return isObject(value.response) ? { ...own, response: withoutInstructions(value.response) } : own;
}

function commentsOf(body: string): JsonObject {
  const [comments = ''] = /^(?::.*\r?\n)*/.exec(body) ?? [];
  const named = comments.matchAll(/^: *(\w+): *(.*)/gm);
  return Object.fromEntries([...named].map(([, name, value]) => [name, value]));
}

function namesOf(names: JsonObject): Pick<Recording, 'question' | 'tool' | 'recordedAt'> {
  const recordedAt = new Date(asText(names.recorded_at) ?? Number.NaN);
  return withoutUndefined({
    question: asText(names.question),
    tool: isToolName(names.tool) ? names.tool : undefined,
    recordedAt: Number.isNaN(recordedAt.getTime()) ? undefined : recordedAt,
  });
}

/** The HTTP status of a JSON body. An error, which only a person can have recorded, may contain its own. */
function statusOf({ object, output, error, status }: JsonObject): number {
  if (object === 'response' || output !== undefined || !isObject(error)) return 200;
  return typeof status === 'number' ? status : 400;
}
