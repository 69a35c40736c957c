import type { ServerResponse } from 'node:http';
import { type AskedRequest, responseBody, type ScriptedResponse, unfinishedResponse } from './api-response.ts';
import { type ApiEvent, failureEvents, responseEvents, type StreamFailure, toSse } from './api-stream.ts';
import { type Behaviour, fails, sendsJson } from './behaviours.ts';
import { deferred } from './fake-llm-search.ts';

/** The background responses of a fake API, by their IDs. */
export class BackgroundResponses {
  readonly #responses = new Map<string, BackgroundResponse>();

  /** What begins with a request, if its behavior is a reply or a part of one. */
  start(behaviour: Behaviour, request: AskedRequest): BackgroundResponse | undefined {
    if (behaviour.kind === 'holds') return undefined;
    const { of, afterEvents = 0 } = behaviour.kind === 'answers' ? { of: behaviour } : behaviour;
    if (of === undefined) return undefined;
    const response = new BackgroundResponse(of.response, afterEvents, request);
    this.#responses.set(unfinishedResponse(request).id, response);
    if (behaviour.kind === 'works') void behaviour.released.then((failure) => response.end(failure));
    if (behaviour.kind === 'answers') response.end();
    return response;
  }

  /** That of a path such as `/v1/responses/resp_1/cancel`. */
  at(path: string): BackgroundResponse | undefined {
    return this.#responses.get(/^\/v1\/responses\/(resp_\w+)/.exec(path)?.[1] ?? '');
  }

  /** Completes those that work. */
  end(): void {
    for (const response of this.#responses.values()) response.end();
  }
}

/** Works until it is ended or cancelled, whatever becomes of its connection. */
class BackgroundResponse {
  readonly #of: ScriptedResponse;
  readonly #request: AskedRequest;
  readonly #ended = deferred<void>();
  #events: readonly ApiEvent[];
  #state: 'in_progress' | 'completed' | 'failed' | 'cancelled' = 'in_progress';

  constructor(of: ScriptedResponse, afterEvents: number, request: AskedRequest) {
    this.#of = of;
    this.#request = request;
    this.#events = responseEvents(of, request).slice(0, afterEvents);
  }

  /** Sends the events, and what follows when it ends. */
  async stream(response: ServerResponse): Promise<void> {
    const sent = this.#events.length;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    response.write(toSse(...this.#events));
    await this.#ended.promise;
    response.end(toSse(...this.#events.slice(sent)));
  }

  /** As the API shows it now. Sources of searches are shown only if the look asks for them. */
  look(path: string): Behaviour {
    const include = new URL(path, 'http://fake').searchParams.getAll('include[]');
    const request = { ...this.#request, body: { ...this.#request.body, include } };
    if (this.#state === 'completed') return sendsJson(responseBody(this.#of, request));
    const done = this.#events.filter(({ type }) => type === 'response.output_item.done');
    const { error = null } = Object(this.#events.at(-1)?.response);
    const output = done.map(({ item }) => item);
    return sendsJson({ ...unfinishedResponse(request), status: this.#state, output, error });
  }

  /** One that has ended stays as it is. */
  cancel(): Behaviour {
    const response = { ...unfinishedResponse(this.#request), status: 'cancelled' };
    this.#end('cancelled', [...this.#events, { type: 'response.cancelled', response }]);
    return sendsJson({ id: response.id, object: 'response', status: this.#state });
  }

  end(failure?: StreamFailure): void {
    if (failure === undefined) this.#end('completed', responseEvents(this.#of, this.#request));
    else this.#end('failed', [...this.#events, ...failureEvents(failure, this.#request).slice(-1)]);
  }

  #end(state: 'completed' | 'failed' | 'cancelled', events: readonly ApiEvent[]): void {
    if (this.#state !== 'in_progress') return;
    this.#state = state;
    this.#events = events;
    this.#ended.settle();
  }
}

/** What the API answers about a response that it does not have. */
export function unknownResponse(path: string): Behaviour {
  const message = `Response with id '${path.split(/[/?]/)[3]}' not found.`;
  return fails({ status: 404, error: { message, param: 'id' } });
}
