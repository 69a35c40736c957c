import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import { asObject, type JsonObject } from './json.ts';
import { openedPage, queriesOf } from './search-calls.ts';

/** Tells an observer what an event of a stream means. The whole action of a search comes with its `done` event. */
export function observeEvent(type: string, event: JsonObject, observer: SearchObserver): void {
  const item = asObject(event.item);
  if (type === 'response.created' || (type === 'response.output_item.added' && item?.type === 'reasoning')) {
    observer.onProgress({ kind: 'thinking' });
  } else if (type === 'response.web_search_call.searching') {
    observer.onProgress({ kind: 'searching' });
  } else if (type === 'response.output_item.done' && item?.type === 'web_search_call') {
    observeSearchCall(item, observer);
  }
}

function observeSearchCall(item: JsonObject, observer: SearchObserver): void {
  const url = openedPage(item);
  if (url !== undefined) observer.onProgress({ kind: 'opened_page', url });
  for (const query of queriesOf(item)) observer.onProgress({ kind: 'searching', query });
}
