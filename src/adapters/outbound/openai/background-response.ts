import { err, type Result } from 'neverthrow';
import type { JsonObject } from '../../../domain/json.ts';
import type { ApiCall } from './api-client.ts';
import type { Failure, FailureContext } from './failure.ts';
import type { ResponseEvents } from './response-events.ts';
import { readResponse } from './response-reader.ts';
import { toThrownFailure } from './thrown-failure.ts';

interface ResumeOptions {
  readonly call: ApiCall;
  readonly events: ResponseEvents;
  readonly context: FailureContext;
  readonly onText: ((text: string) => void) | undefined;
  /** Undefined: the response is not a background response. */
  readonly maxResumptions: number | undefined;
}

/**
 * Reads a response. The stream of a background response that breaks after its first event is resumed: the same response continues, so that
 * this is no new attempt (ruling A10). When no resumption is left, the call fails, and is not sent again.
 */
export async function readResumable(
  http: Response,
  options: ResumeOptions,
  signal: AbortSignal,
): Promise<Result<JsonObject, Failure>> {
  const { call, events, context, onText, maxResumptions } = options;
  let outcome = await attempt(() => readResponse(http, events, context, onText), context);
  for (let resumption = 0; maxResumptions !== undefined && isBroken(outcome) && !signal.aborted; resumption += 1) {
    const { position } = events;
    if (position === undefined) return outcome;
    if (resumption >= maxResumptions) return outcome.mapErr((failure): Failure => ({ ...failure, retry: 'never' }));
    outcome = await attempt(async () => {
      const resumed = await call.resume(position.id, position.sequence, signal);
      return readResponse(resumed, events, context, onText);
    }, context);
  }
  return outcome;
}

/** The API continues a background response until it is cancelled. */
export function cancelBackground(call: ApiCall, { position }: ResponseEvents): void {
  if (position !== undefined) void call.cancel(position.id).catch(() => {});
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
