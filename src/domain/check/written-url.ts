import { pageKey } from '../answers/citation.ts';
import { clip, withoutTracking, withoutUnsafeCharacters } from '../values/clean-text.ts';
import type { Kind } from '../values/kind.ts';
import { isTooLong, isWebUrl, toWebUrl, withoutUserInfo } from '../values/web-url.ts';

/** A URL as a text writes it. */
export interface WrittenUrl {
  readonly url: string;
  readonly at: number;
}

/** Why a URL is not checked. */
export type SkipReason =
  | 'code'
  | 'comment'
  | 'navigation'
  | 'image'
  | 'placeholder'
  | 'relative'
  | 'scheme'
  | 'invalid'
  | 'ignored'
  | 'limit';

export interface SkippedUrl extends WrittenUrl {
  readonly reason: SkipReason;
}

/** The page of a URL, with a key that equal pages have, or why the URL is not checked. `refusal`: why the page is not requested. */
export type LinkedPage =
  | Kind<'page', { readonly key: string; readonly url: string; readonly refusal?: 'too_long' | 'user_name' }>
  | Kind<'skipped', { readonly reason: SkipReason }>;

/** The parts of URLs that are shown if they are too long for a page. */
const [SHOWN_PAGE, SHOWN_SKIPPED] = [100, 300];

/** The page to which a URL leads. The URL of a page that is too long is cut to be shown, and a user name is removed. */
export function linkedPage(written: string): LinkedPage {
  const url = withoutUnsafeCharacters(withoutTracking(written));
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) return { kind: 'skipped', reason: 'relative' };
  if (!/^https?:/i.test(url)) return { kind: 'skipped', reason: 'scheme' };
  if (/[{}<>]/.test(url)) return { kind: 'skipped', reason: 'placeholder' };
  const named = withoutUserInfo(url);
  if (isTooLong(named)) return { kind: 'page', key: named, url: clip(named, SHOWN_PAGE), refusal: 'too_long' };
  const page = isWebUrl(named) ? toWebUrl(named) : undefined;
  if (page === undefined) return { kind: 'skipped', reason: 'invalid' };
  if (named !== url) return { kind: 'page', key: url, url: page, refusal: 'user_name' };
  return { kind: 'page', key: pageKey(new URL(page).href), url: page };
}

/** A URL that is not checked, as it is shown. */
export function shownUrl(url: string): string {
  return clip(withoutUnsafeCharacters(withoutUserInfo(url)), SHOWN_SKIPPED);
}
