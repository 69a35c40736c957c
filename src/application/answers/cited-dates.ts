import { pageKey } from '../../domain/answers/citation.ts';
import type { SearchReply } from '../ports/llm-search.ts';

/** `page`: the page says when it was published; `resource`: the last change of an own source; `access`: the day of the answer. */
export interface DateOrigin {
  readonly url: string;
  readonly origin: 'page' | 'resource' | 'access';
}

/** Not an address that an own tool named, or that the model wrote after a private output: it may contain private data (ruling L19). */
export function mayBeFetched(url: string, { own }: SearchReply): boolean {
  const isAmong = (urls: readonly string[]) => urls.some((other) => pageKey(other) === pageKey(url));
  return own === undefined || (isAmong(own.publicPages) && !isAmong(own.answered.map(({ url }) => url)));
}

export function dateOrigin(url: string, { own }: SearchReply, publishedOn: ReadonlyMap<string, string>): DateOrigin {
  if (publishedOn.has(url)) return { url, origin: 'page' };
  const source = own?.answered.find((source) => source.url === url);
  return { url, origin: source?.changedOn === undefined ? 'access' : 'resource' };
}
