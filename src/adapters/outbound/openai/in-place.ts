import { err } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { Places } from '../../../application/async/places.ts';
import type {
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchRequest,
} from '../../../application/ports/llm-search.ts';

/**
 * Searches as soon as there is a place. One that can be continued with looks keeps it: `onPlace` got what gives it back, which has an effect
 * once (ruling K6).
 */
export async function inPlace(
  places: Places,
  { by: { caller }, onPlace }: Pick<SearchRequest, 'by' | 'onPlace'>,
  observer: SearchObserver,
  signal: AbortSignal,
  search: () => Promise<SearchOutcome>,
): Promise<SearchOutcome> {
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
    let isKept = false;
    try {
      const turn = onPlace?.(giveBack);
      if (turn === undefined) {
        if (wasQueued) observer.onProgress({ kind: 'asking' });
        const outcome = await search();
        isKept = onPlace !== undefined && outcome.isErr() && outcome.error.kind === 'interrupted';
        return outcome;
      }
      giveBack();
      onQueued({ kind: 'waiting', ahead: turn.ahead });
      await untilAborted(turn.comes, signal);
    } finally {
      if (!isKept) giveBack();
    }
  }
  return err({ kind: 'aborted' });
}
