import { err } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { Places } from '../../../application/async/places.ts';
import type {
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchRequest,
} from '../../../application/ports/llm-search.ts';

/** Searches when there is a place. A search that can be continued with looks keeps it: `onPlace` got what gives it back (ruling K6). */
export async function inPlace(
  places: Places,
  request: SearchRequest,
  observer: SearchObserver,
  signal: AbortSignal,
  search: () => Promise<SearchOutcome>,
): Promise<SearchOutcome> {
  const giveBack = await takePlace(places, request, observer, signal);
  if (giveBack === undefined) return err({ kind: 'aborted' });
  let isKept = false;
  try {
    const outcome = await search();
    isKept = request.onPlace !== undefined && outcome.isErr() && outcome.error.kind === 'interrupted';
    return outcome;
  } finally {
    if (!isKept) giveBack();
  }
}

/** Waits until a search may start. Returns what gives its place back, which has an effect once; undefined if `signal` aborts. */
async function takePlace(
  places: Places,
  { caller, onPlace }: Pick<SearchRequest, 'caller' | 'onPlace'>,
  observer: SearchObserver,
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  let wasQueued = false;
  const onQueued = (position: SearchProgress) => {
    wasQueued = true;
    observer.onProgress(position);
  };
  while ((await places.acquire(caller, onQueued, signal)) === 'acquired') {
    let isHeld = true;
    const giveBack = () => {
      if (isHeld) places.release(caller);
      isHeld = false;
    };
    const turn = onPlace?.(giveBack);
    if (turn === undefined) {
      if (wasQueued) observer.onProgress({ kind: 'asking' });
      return giveBack;
    }
    giveBack();
    onQueued({ kind: 'waiting', ahead: turn.ahead });
    await untilAborted(turn.comes, signal);
  }
  return undefined;
}
