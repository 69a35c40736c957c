import { untilAborted } from '../../../application/async/deadline.ts';
import type { Places } from '../../../application/async/places.ts';
import type { SearchObserver, SearchProgress, SearchRequest } from '../../../application/ports/llm-search.ts';

/** Waits until a search may start. Returns what gives its place back, which has an effect once; undefined if `signal` aborts. */
export async function takePlace(
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
