import type { ServerResponse } from 'node:http';
import { type AskedRequest, toApiResponse, unfinishedResponse } from './api-response.ts';
import { type ApiEvent, answerEvents, failureEvents, numbered, type StreamFailure, toSse } from './api-stream.ts';
import { type AnswersBehaviour, type Behaviour, fails, sendsJson } from './behaviours.ts';

/** The background responses of a fake API, by their IDs. */
export class BackgroundResponses {
  readonly #responses = new Map<string, BackgroundResponse>();

  /** What begins with a request, if its behavior is a reply or a part of one. */
  start(behaviour: Behaviour, request: AskedRequest): BackgroundResponse | undefined {
    if (behaviour.kind === 'holds') return undefined;
    const { of, afterEvents = 0 } = behaviour.kind === 'answers' ? { of: behaviour } : behaviour;
    if (of === undefined) return undefined;
    const response = new BackgroundResponse(of, afterEvents, request, behaviour.kind === 'works');
    this.#responses.set(response.id, response);
    if (behaviour.kind === 'works') void behaviour.released.then((failure) => response.end(failure));
    if (behaviour.kind === 'answers') response.end();
    return response;
  }

  /** That of a path such as `/v1/responses/resp_1/cancel`. */
  at(path: string): BackgroundResponse | undefined {
    return this.#responses.get(/^\/v1\/responses\/(resp_\w+)/.exec(path)?.[1] ?? '');
  }

  /** Ends those that work. */
  end(failure?: StreamFailure): void {
    for (const response of this.#responses.values()) response.end(failure);
  }
}

/** Works until it is ended or cancelled, whatever becomes of its connection. */
export class BackgroundResponse {
  readonly id: string;
  /** The fake API streams it: no behavior of the test does. */
  readonly isStreamed: boolean;
  readonly #of: AnswersBehaviour;
  readonly #request: AskedRequest;
  readonly #ended: Promise<void>;
  #events: readonly ApiEvent[];
  #state: 'in_progress' | 'completed' | 'failed' | 'cancelled' = 'in_progress';
  #onEnd = () => {};

  constructor(of: AnswersBehaviour, afterEvents: number, request: AskedRequest, isStreamed: boolean) {
    this.#of = of;
    this.#request = request;
    this.isStreamed = isStreamed;
    this.id = unfinishedResponse(request).id;
    this.#events = answerEvents(of, request).slice(0, afterEvents);
    this.#ended = new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }

  /** Sends the events, and what follows when it ends. */
  async stream(response: ServerResponse): Promise<void> {
    const sent = this.#events.length;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    response.write(this.#events.map(toSse).join(''));
    await this.#ended;
    response.end(this.#events.slice(sent).map(toSse).join(''));
  }

  /** As the API shows it now. Sources of searches are shown only if the look asks for them. */
  look(path: string): Behaviour {
    const request = this.asked(path);
    if (this.#state === 'completed') return sendsJson(toApiResponse(this.#of, request));
    const done = this.#events.filter(({ type }) => type === 'response.output_item.done');
    const { error = null } = Object(this.#events.at(-1)?.response);
    return sendsJson({
      ...unfinishedResponse(request),
      status: this.#state,
      background: true,
      output: done.map(({ item }) => item),
      error,
    });
  }

  /** The request that began it, with what a look asks to include. */
  asked(path: string): AskedRequest {
    const include = new URL(path, 'http://fake').searchParams.getAll('include[]');
    return { ...this.#request, body: { ...this.#request.body, include } };
  }

  /** One that has ended stays as it is. */
  cancel(): Behaviour {
    const response = { ...unfinishedResponse(this.#request), status: 'cancelled' };
    this.#end('cancelled', [...this.#events, { type: 'response.cancelled', response }]);
    return sendsJson({ id: this.id, object: 'response', status: this.#state });
  }

  end(failure?: StreamFailure): void {
    if (failure === undefined) this.#end('completed', answerEvents(this.#of, this.#request));
    else this.#end('failed', [...this.#events, ...failureEvents(failure, this.#request).slice(-1)]);
  }

  #end(state: 'completed' | 'failed' | 'cancelled', events: readonly ApiEvent[]): void {
    if (this.#state !== 'in_progress') return;
    this.#state = state;
    this.#events = numbered(events);
    this.#onEnd();
  }
}

/** What the API answers about a response that it does not have. */
export function unknownResponse(path: string): Behaviour {
  const message = `Response with id '${path.split(/[/?]/)[3]}' not found.`;
  return fails({ status: 404, error: { message, type: 'invalid_request_error', param: 'id', code: null } });
}
