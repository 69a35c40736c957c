import { expect, test } from 'vitest';
import { progressMessage } from '../../../../../src/adapters/inbound/words/mcp-messages.ts';
import type { SearchProgress } from '../../../../../src/application/ports/llm-search.ts';

const PINNED: readonly (readonly [SearchProgress, string, string])[] = [
  [{ kind: 'asking' }, 'Asking the model', 'モデルに尋ねています'],
  [{ kind: 'asking', round: 2 }, 'Asking the model (round 2)', 'モデルに尋ねています（2 回目）'],
  [
    { kind: 'calling', server: 'notes', tool: 'search\nnotes' },
    'Calling notes/search notes',
    'ツールを呼び出しています: notes/search notes',
  ],
  [
    { kind: 'called', server: 'notes', tool: 'search', ms: 1240, characters: 159, reason: undefined },
    'notes/search: 159 characters, 1.2 s',
    'notes/search: 159 文字、1.2 s',
  ],
  [
    { kind: 'called', server: 'notes', tool: 'search', ms: 30_000, characters: 40, reason: 'timed_out' },
    'notes/search: failed (timed out), 30 s',
    'notes/search: 失敗しました（timed out）、30 s',
  ],
  [{ kind: 'waiting', ahead: 2 }, 'Waiting in the queue (2 ahead)', '順番を待っています（前に 2 件）'],
  [{ kind: 'waiting', ahead: 0 }, 'Waiting for a free slot', '空きを待っています'],
  [{ kind: 'thinking' }, 'Thinking', '考えています'],
  [{ kind: 'searching' }, 'Searching the web', '検索しています'],
  [{ kind: 'searching', query: 'weather\n Tokyo' }, 'Searched: weather Tokyo', '検索: weather Tokyo'],
  [
    { kind: 'opened_page', url: 'https://a.com/?utm_source=openai' },
    'Opened: https://a.com/',
    'ページを開きました: https://a.com/',
  ],
  [
    { kind: 'unstreamed' },
    'The API refuses to stream; waiting for the complete answer',
    'API がストリーミングを拒んだため、途中経過は届きません',
  ],
  [{ kind: 'writing', characters: 120 }, 'Writing (120 characters)', '書いています（120 文字）'],
  [
    { kind: 'retrying', reason: 'rate_limited', waitMs: 1500, attempt: 2 },
    'Rate limited; retrying in 1.5 s',
    'API の流量制限です。1.5 s 待って再試行します',
  ],
  [
    { kind: 'retrying', reason: 'connection_failed', waitMs: 1000, attempt: 2 },
    'Connection failed; retrying in 1 s',
    '接続できないか、切れました。1 s 待って再試行します',
  ],
  [
    { kind: 'retrying', reason: 'server_error', waitMs: 1000, attempt: 2 },
    'API error; retrying in 1 s',
    'API に障害が出ています。1 s 待って再試行します',
  ],
];

test.each(PINNED)('%j is reported in the language of the question', (progress, english, japanese) => {
  expect(progressMessage(progress, 'en')).toBe(english);
  expect(progressMessage(progress, 'ja')).toBe(japanese);
});

test('the message contains nothing that controls a terminal', () => {
  expect(progressMessage({ kind: 'searching', query: 'a\u001B[31m\u202Eb' }, 'en')).toBe('Searched: ab');
});
