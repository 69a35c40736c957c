import { err, type Result } from 'neverthrow';
import { whenSettled } from '../../../application/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { ApiCall } from './api-client.ts';
import type { ApiResponse } from './api-fetch.ts';
import type { Failure, FailureContext } from './failure.ts';
import type { ResponseEvents } from './response-events.ts';
import { readResponse } from './response-reader.ts';
import { toThrownFailure } from './thrown-failure.ts';

interface ResumeOptions {
  readonly call: ApiCall;
  readonly events: ResponseEvents;
  readonly context: FailureContext;
  readonly onText: (text: string) => void;
  readonly maxRetries: number;
  /** Waits before another resumption; the number is that of the resumptions so far. */
  readonly wait: (resumptions: number) => Promise<unknown>;
}

/**
 * Reads a background response. If its stream breaks after the first event, it is resumed: the same response continues, so that this is no new
 * attempt (ruling A10). When no resumption is left, the call fails, and is not sent again.
 */
export async function readResumable(
  http: ApiResponse,
  options: ResumeOptions,
  signal: AbortSignal,
): Promise<Result<JsonObject, Failure>> {
  const { call, events, context, onText, maxRetries, wait } = options;
  let outcome = await attempt(() => readResponse(http, events, context, onText), context);
  let isInterrupted = isBroken(outcome);
  for (let resumption = 0; isInterrupted && !signal.aborted; resumption += 1) {
    const { position } = events;
    if (position === undefined) return outcome;
    if (resumption >= maxRetries) return outcome.mapErr((failure): Failure => ({ ...failure, isTransient: false }));
    // The first break may be that of an idle connection; after another one, the network needs time.
    if (resumption > 0) await wait(resumption);
    let isOpen = false;
    outcome = await attempt(async () => {
      const resumed = await call.resume(position.id, position.sequence, signal);
      isOpen = true;
      // Ends an incomplete event.
      onText('\n\n');
      return readResponse(resumed, events, context, onText);
    }, context);
    // The response continues while the API refuses to resume it; a failure that the response reports is its own.
    isInterrupted = isBroken(outcome) || (!isOpen && outcome.isErr() && outcome.error.isTransient);
  }
  return outcome;
}

/** How long the process waits at its end for cancellations to reach the API. */
const CLOSE_MS = 1000;

/** The requests in background mode. The API continues a background response until it is cancelled. */
export class BackgroundCalls {
  readonly #unfinished = new Set<Promise<unknown>>();

  /** Cancels a response, if its ID is known. */
  cancel(call: ApiCall, { position }: ResponseEvents): void {
    if (position !== undefined) this.track(call.cancel(position.id).catch(() => {}));
  }

  track<T>(promise: Promise<T>): Promise<T> {
    this.#unfinished.add(promise);
    void promise.finally(() => this.#unfinished.delete(promise));
    return promise;
  }

  /** Waits, for a limited time, until aborted requests have ended and their cancellations were sent. */
  close(clock: Clock): Promise<void> {
    return whenSettled(this.#unfinished, clock, CLOSE_MS);
  }
}

function isBroken(outcome: Result<JsonObject, Failure>): boolean {
  return outcome.isErr() && outcome.error.error.kind === 'connection_failed';
}

async function attempt(
  read: () => Promise<Result<JsonObject, Failure>>,
  context: FailureContext,
): Promise<Result<JsonObject, Failure>> {
  try {
    return await read();
  } catch (thrown) {
    return err(toThrownFailure(thrown, context));
  }
}
