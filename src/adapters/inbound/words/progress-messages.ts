import type { SearchProgress } from '../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import { cleanLine } from '../../../domain/clean-text.ts';
import type { Language } from '../../../domain/language.ts';
import { duration } from './plain.ts';

/** What happens during a call, as a short message in the language of the question. */
export function progressMessage(progress: SearchProgress, language: Language): string {
  const isJapanese = language === 'ja';
  switch (progress.kind) {
    case 'asking': {
      const { round } = progress;
      if (round === undefined) return isJapanese ? 'モデルに尋ねています' : 'Asking the model';
      return isJapanese ? `モデルに尋ねています（${round} 回目）` : `Asking the model (round ${round})`;
    }
    case 'waiting': {
      const { ahead } = progress;
      if (ahead === 0) return isJapanese ? '空きを待っています' : 'Waiting for a free slot';
      return isJapanese ? `順番を待っています（前に ${ahead} 件）` : `Waiting in the queue (${ahead} ahead)`;
    }
    case 'thinking':
      return isJapanese ? '考えています' : 'Thinking';
    case 'searching':
      if (progress.query === undefined) return isJapanese ? '検索しています' : 'Searching the web';
      return `${isJapanese ? '検索' : 'Searched'}: ${cleanLine(progress.query)}`;
    case 'opened_page':
      return `${isJapanese ? 'ページを開きました' : 'Opened'}: ${cleanLine(progress.url)}`;
    case 'calling':
      return isJapanese ? `ツールを呼び出しています: ${toolName(progress)}` : `Calling ${toolName(progress)}`;
    case 'called': {
      const { reason, characters } = progress;
      const took = duration(progress.ms);
      if (reason === undefined)
        return `${toolName(progress)}: ${isJapanese ? `${characters} 文字、` : `${characters} characters, `}${took}`;
      const words = reason.replaceAll('_', ' ');
      return `${toolName(progress)}: ${isJapanese ? `失敗しました（${words}）、` : `failed (${words}), `}${took}`;
    }
    case 'writing':
      return isJapanese ? `書いています（${progress.characters} 文字）` : `Writing (${progress.characters} characters)`;
    case 'retrying': {
      const wait = duration(progress.waitMs);
      return isJapanese
        ? `${retryReason(progress.reason).ja}。${wait} 待って再試行します`
        : `${retryReason(progress.reason).en}; retrying in ${wait}`;
    }
  }
}

/** The name of a tool is text of its server. */
function toolName({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return cleanLine(`${server}/${tool}`);
}

function retryReason(reason: SearchError['kind']): { readonly ja: string; readonly en: string } {
  if (reason === 'rate_limited') return { ja: 'API の流量制限です', en: 'Rate limited' };
  if (reason === 'connection_failed') return { ja: '接続できないか、切れました', en: 'Connection failed' };
  return { ja: 'API に障害が出ています', en: 'API error' };
}
