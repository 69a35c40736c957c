import { createParser } from 'eventsource-parser';
import { isObject, type JsonObject, parseJson } from '../../../../domain/json.ts';
import { redactedJson } from '../../../../domain/redaction.ts';
import { asObject, asText } from '../json-values.ts';

/** The events that a reply is read from. The others contain the text in pieces, and with it a key in pieces, which would not be masked. */
const READ_EVENTS = /^(?:response\.(?:created|output_item\.done|completed|incomplete|failed|cancelled)|error)$/;

/** What is recorded of a body of the API: what the reader needs, without keys, and without the instructions, which the API repeats. */
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

/** A response, or an event with one. The system policy is the user's, and not a part of the reply. */
function withoutInstructions(value: JsonObject): JsonObject {
  const own = value.instructions === undefined ? value : { ...value, instructions: null };
  return isObject(value.response) ? { ...own, response: withoutInstructions(value.response) } : own;
}
