import type { Result } from 'neverthrow';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { ApiCall } from './api-client.ts';
import type { ApiResponse } from './api-fetch.ts';
import type { Failure } from './failure.ts';
import { type Reading, readResponse } from './response-reader.ts';

interface ResumableReading extends Reading {
  readonly call: ApiCall;
  readonly maxRetries: number;
  /** Waits before another resumption; the number is that of the resumptions so far. */
  readonly wait: (resumptions: number) => Promise<unknown>;
}

/**
 * Reads a background response. If its stream breaks after the first event, it is resumed: the same response continues, so that this is no new
 * attempt (ruling A10). When no resumption is left, the call fails, and is not sent again.
 */
export async function readResumable(
  open: () => Promise<ApiResponse>,
  reading: ResumableReading,
  signal: AbortSignal,
): Promise<Result<JsonObject, Failure>> {
  const { call, events, onText, maxRetries, wait } = reading;
  let outcome = await readResponse(open, reading);
  let isInterrupted = isBroken(outcome);
  for (let resumption = 0; isInterrupted && !signal.aborted; resumption += 1) {
    const { position } = events;
    if (position === undefined) return outcome;
    if (resumption >= maxRetries) return outcome.mapErr((failure): Failure => ({ ...failure, isTransient: false }));
    // The first break may be that of an idle connection; after another one, the network needs time.
    if (resumption > 0) await wait(resumption);
    let isOpen = false;
    const resume = async () => {
      const resumed = await call.resume(position.id, position.sequence, signal);
      isOpen = true;
      // Ends an incomplete event.
      onText('\n\n');
      return resumed;
    };
    outcome = await readResponse(resume, reading);
    // The response continues while the API refuses to resume it; a failure that the response reports is its own.
    isInterrupted = isBroken(outcome) || (!isOpen && outcome.isErr() && outcome.error.isTransient);
  }
  return outcome;
}

function isBroken(outcome: Result<JsonObject, Failure>): boolean {
  return outcome.isErr() && outcome.error.error.kind === 'connection_failed';
}
