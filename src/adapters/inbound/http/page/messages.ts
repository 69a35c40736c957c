import { EventSourceParserStream } from 'eventsource-parser/stream';
import { isObject, type JsonObject, parseJson } from '../../../../domain/values/json.ts';

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
