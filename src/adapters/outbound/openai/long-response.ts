import { DETACHED } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { type JsonObject, withoutUndefined } from '../../../domain/values/json.ts';
import type { Failure } from './failure.ts';
import type { ResponseEvents } from './response-events.ts';
import { createdAt } from './search-reply.ts';

/** How long a connection is kept after an abort, until the ID of the response is known. */
const ID_MS = 10_000;
/** IDs that a handle can contain (ruling K11). */
const ID = /^[A-Za-z0-9_-]{1,90}$/;

/** One attempt of a long request: what becomes of its response when the connection ends (rulings K4, K7, K9, K10). */
export function longResponse(
  observer: Required<SearchObserver>,
  clock: Clock,
  signal: AbortSignal,
  connection: AbortController,
  events: ResponseEvents,
) {
  let isReported = false;
  const end = () => connection.abort();
  return {
    onCreated: (response: JsonObject): void => {
      const { id, sequence } = events;
      // The connection was kept only for the ID.
      if (signal.aborted) end();
      else if (id === undefined || !ID.test(id) || sequence === undefined) observer.onOrdinary('unusable');
      else if (!isReported) {
        isReported = true;
        observer.onCreated({ id, createdAt: createdAt(response) ?? clock.now() });
      }
    },

    /** Ends the connection when the signal aborts, unless it is needed to learn the ID. Returns what removes timer and listener. */
    forwardAbort: (): (() => void) => {
      let cancelTimer = () => {};
      const onAbort = () => {
        if (events.id === undefined && signal.reason !== DETACHED) cancelTimer = clock.after(ID_MS, end);
        else end();
      };
      // Nothing was sent yet.
      if (signal.aborted) end();
      signal.addEventListener('abort', onAbort, { once: true });
      return () => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
      };
    },

    /** What a failure means: after `response.created`, no request is repeated, and a response whose end is unknown can be looked at. */
    toFailure: (failure: Failure): Failure => {
      const { error, rejection, log } = failure;
      const permanent = (error: SearchError): Failure => ({ error, isTransient: false, log });
      if (isReported) {
        const { outcome } = events;
        // A look tells a cancelled response from a failed one.
        const isEnded = outcome !== undefined && !(outcome.isOk() && outcome.value.status === 'cancelled');
        const { diagnostics } = error;
        return permanent(isEnded ? error : { kind: 'interrupted', ...withoutUndefined({ diagnostics }) });
      }
      // Often only the message names it: background mode may require another value. It is never changed silently.
      const isAboutStore = rejection !== undefined && /\bstore\b/i.test(`${rejection.param} ${rejection.message}`);
      const detail = 'detail' in error ? error.detail : '';
      return isAboutStore ? permanent({ kind: 'store_rejected', detail }) : failure;
    },
  };
}
