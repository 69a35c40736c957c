import type { SearchProgress } from '../../application/ports/llm-search.ts';
import { cleanLine } from '../../domain/clean-text.ts';
import type { Language } from '../../domain/language.ts';
import { seconds } from './error-words.ts';

/** What happens while a question is answered, in a few words of the question's language. */
export function progressWords(progress: SearchProgress, language: Language): string {
  const isJapanese = language === 'ja';
  switch (progress.kind) {
    case 'asking':
      return isJapanese ? 'モデルに尋ねています' : 'Asking the model';
    case 'waiting':
      if (progress.ahead === 0) return isJapanese ? '空きを待っています' : 'Waiting for a free place';
      return isJapanese
        ? `順番を待っています（前に ${progress.ahead} 件）`
        : `Waiting in the queue (${progress.ahead} ahead)`;
    case 'thinking':
      return isJapanese ? '考えています' : 'Thinking';
    case 'searching':
      if (progress.query === undefined) return isJapanese ? '検索しています' : 'Searching the web';
      return `${isJapanese ? '検索' : 'Searched'}: ${cleanLine(progress.query)}`;
    case 'opened_page':
      return `${isJapanese ? 'ページを開きました' : 'Opened'}: ${cleanLine(progress.url)}`;
    case 'writing':
      return isJapanese ? `書いています（${progress.characters} 文字）` : `Writing (${progress.characters} characters)`;
    case 'retrying': {
      const wait = seconds(progress.waitMs);
      const why = RETRY_REASONS[progress.reason] ?? RETRY_REASONS.server_error;
      return isJapanese ? `${why?.ja}。${wait} 待って再試行します` : `${why?.en}; trying again in ${wait}`;
    }
  }
}

const RETRY_REASONS: Readonly<Record<string, { readonly ja: string; readonly en: string }>> = {
  rate_limited: { ja: 'API の流量制限です', en: 'The API limits the rate' },
  server_error: { ja: 'API に障害が出ています', en: 'The API failed' },
  connection_failed: { ja: '接続できないか、切れました', en: 'The connection failed' },
};
