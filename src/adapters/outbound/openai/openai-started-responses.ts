import { err, type Result } from 'neverthrow';
import { never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { Look, LookError, SearchRequest, StartedResponses } from '../../../application/ports/llm-search.ts';
import type { Clock } from '../../../application/ports/services.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { ClientFor } from './api-client.ts';
import type { FailureContext } from './failure.ts';
import { ResponseEvents } from './response-events.ts';
import { isOpen } from './response-forms.ts';
import { readResponse } from './response-reader.ts';
import { toSearchReply, toUse } from './search-reply.ts';

type Options = Omit<FailureContext, 'model' | 'attempt'> & {
  readonly clock: Clock;
  readonly callFor: ClientFor;
};

/** Time limit of a look. */
const LOOK_MS = 15_000;
/** How long a caller waits for a cancellation to reach the API. */
const CANCEL_MS = 1000;

/** OpenAI's background responses, by their IDs. */
export class OpenAiStartedResponses implements StartedResponses {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async look(
    id: string,
    { profile, timeZone }: Pick<SearchRequest, 'profile' | 'timeZone'>,
    signal: AbortSignal,
  ): Promise<Result<Look, LookError>> {
    const { callFor, route, clock } = this.#options;
    const client = await callFor(signal);
    if (client.isErr()) return err(toLookError(client.error));
    const context = { ...this.#options, model: profile.model, attempt: 1 };
    const events = new ResponseEvents(context);
    const { outcome, isTimedOut } = await withDeadline(clock, LOOK_MS, signal, (limit) =>
      readResponse(() => client.value.retrieve(id, limit), { events, clock }),
    );
    if (signal.aborted) return err(toLookError({ kind: 'aborted' }));
    const detail = `no response within ${LOOK_MS / 1000} s`;
    if (isTimedOut && outcome.isErr())
      return err(toLookError({ kind: 'connection_failed', attempts: 1, host: route, detail }));
    return outcome.map((response) => toLook(response, context, timeZone)).mapErr(({ error }) => toLookError(error));
  }

  async cancel(id: string): Promise<void> {
    const client = await this.#options.callFor(never());
    if (client.isErr()) return;
    const sent = client.value.cancel(id).catch(() => {});
    await withDeadline(this.#options.clock, CANCEL_MS, never(), (limit) => untilAborted(sent, limit));
  }
}

function toLook(response: JsonObject, context: FailureContext, timeZone: string): Look {
  const { searches } = toUse(response);
  if (isOpen(response)) return { searches };
  return { searches, outcome: toSearchReply(response, context, timeZone).mapErr(({ error }) => error) };
}

function toLookError(error: SearchError): LookError {
  const status = error.diagnostics?.status;
  if (status === 404) return { kind: 'unknown_response' };
  const isPassing = /^(?:connection_failed|rate_limited|server_error|quota_exhausted)$/.test(error.kind);
  return { kind: 'not_looked', error, isPassing };
}
