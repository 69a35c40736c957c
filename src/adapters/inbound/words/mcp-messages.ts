import type { SearchProgress } from '../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import type { Language } from '../../../domain/answers/question.ts';
import { cleanLine, cleanText } from '../../../domain/values/clean-text.ts';
import { duration, excerpt } from './plain.ts';

const CHOICE =
  ' Choose answer for most questions, answer_quick for simple facts that should come fast, answer_detailed for research, comparisons and long explanations (it may take minutes).';

/** Texts that MCP clients show, or give to their models. */
export const MCP = {
  /** `hasAll`: the client may use all answer tools. */
  instructions: (hasAll: boolean) =>
    `Answers questions with current web sources.${hasAll ? CHOICE : ''}
Ask in complete sentences, one topic per call, in the user's language. Do not add a year or date to the query; the server supplies today's date.
The result is {answer, used_search, citations[], model}; pass the sources on to the user.`,
  sameId: (id: string | number) => `Invalid Request: a request with id ${JSON.stringify(id)} is still in flight`,
  shuttingDown: 'The server is shutting down; ask again.',
};

/** Lines of the instructions about servers whose login is missing. */
export const SIGN_IN = {
  at: (server: string, url: string) => `Before the server ${server} can be used, the user has to sign in at ${url}`,
  with: (server: string, command: string) => `Before the server ${server} can be used, the user has to run: ${command}`,
};

/** Texts about the tools that find and call other tools. */
export const SEARCH = {
  instructions:
    'Not all tools of the connected servers may be listed: find_tools finds tools by what they do, read_tool and call_tool call them.',
  unknownTool: (name: string) =>
    cleanText(`TOOL_NOT_FOUND: There is no tool ${JSON.stringify(excerpt(name))}. Use find_tools to find the name.`),
  wrong: (argument: string, accepted: string) => `VALIDATION_ERROR: ${argument}: expected ${accepted}.`,
};

/** A short message about the progress of a call, in the language of the question. */
export function progressMessage(progress: SearchProgress, language: Language): string {
  const say = (ja: string, en: string) => (language === 'ja' ? ja : en);
  switch (progress.kind) {
    case 'asking':
      if (progress.round === undefined) return say('モデルに尋ねています', 'Asking the model');
      return say(`モデルに尋ねています（${progress.round} 回目）`, `Asking the model (round ${progress.round})`);
    case 'waiting':
      if (progress.ahead === 0) return say('空きを待っています', 'Waiting for a free slot');
      return say(`順番を待っています（前に ${progress.ahead} 件）`, `Waiting in the queue (${progress.ahead} ahead)`);
    case 'thinking':
      return say('考えています', 'Thinking');
    case 'unstreamed':
      return say(
        'API がストリーミングを拒んだため、途中経過は届きません',
        'The API refuses to stream; waiting for the complete answer',
      );
    case 'searching':
      if (progress.query === undefined) return say('検索しています', 'Searching the web');
      return `${say('検索', 'Searched')}: ${cleanLine(progress.query)}`;
    case 'opened_page':
      return `${say('ページを開きました', 'Opened')}: ${cleanLine(progress.url)}`;
    case 'calling':
      return say(`ツールを呼び出しています: ${toolName(progress)}`, `Calling ${toolName(progress)}`);
    case 'called': {
      const { reason, characters } = progress;
      const words = reason?.replaceAll('_', ' ');
      const answered = say(`${characters} 文字、`, `${characters} characters, `);
      const outcome = words === undefined ? answered : say(`失敗しました（${words}）、`, `failed (${words}), `);
      return `${toolName(progress)}: ${outcome}${duration(progress.ms)}`;
    }
    case 'writing':
      return say(`書いています（${progress.characters} 文字）`, `Writing (${progress.characters} characters)`);
    case 'retrying': {
      const wait = duration(progress.waitMs);
      const { ja, en } = RETRY_REASONS[progress.reason] ?? { ja: 'API に障害が出ています', en: 'API error' };
      return say(`${ja}。${wait} 待って再試行します`, `${en}; retrying in ${wait}`);
    }
  }
}

/** Servers choose the names of their tools, which may contain any text. */
function toolName({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return cleanLine(`${server}/${tool}`);
}

const RETRY_REASONS: { readonly [Kind in SearchError['kind']]?: { readonly ja: string; readonly en: string } } = {
  rate_limited: { ja: 'API の流量制限です', en: 'Rate limited' },
  connection_failed: { ja: '接続できないか、切れました', en: 'Connection failed' },
};
