import { EventSourceParserStream } from 'eventsource-parser/stream';
import { isObject, type JsonObject, parseJson } from '../../../../domain/values/json.ts';

/** The command that makes the same call in a shell. It names a variable for the token, and never contains the token. */
export function curlCommand(url: string, input: unknown, needsToken: boolean): string {
  const token = needsToken ? ' -H "Authorization: Bearer $TOKEN"' : '';
  const data = quoted(JSON.stringify(input));
  return `curl ${quoted(url)} -H 'Content-Type: application/json'${token} \\\n  -d ${data}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The JSON-RPC messages of a response: those of an event stream as they arrive, or the only one. */
export async function* messagesOf(response: Response): AsyncGenerator<JsonObject> {
  if (!/^text\/event-stream/i.test(response.headers.get('Content-Type') ?? '') || response.body === null) {
    const message = parseJson(await response.text());
    yield isObject(message) ? message : { error: { message: `HTTP ${response.status}` } };
    return;
  }
  const reader = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const message = parseJson(read.value.data);
    if (isObject(message)) yield message;
  }
  throw new Error('the connection ended before the answer.');
}
