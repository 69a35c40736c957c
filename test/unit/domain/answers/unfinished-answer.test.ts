import { expect, test } from 'vitest';
import { languageOf } from '../../../../src/domain/answers/question.ts';
import { unfinishedAnswer } from '../../../../src/domain/answers/unfinished-answer.ts';

const progress = ['la1.d.resp_1.x', 300_400, 12] as const;

test('says what happened and what to do, with the handle and the progress so far', () => {
  expect(unfinishedAnswer('en', ...progress)).toBe(
    `This answer is not finished. The research continues, and it is not billed again.

To get the answer, call the same tool again with the same arguments, or with this query:

la1.d.resp_1.x

Time so far: 5 min. Searches so far: 12.`,
  );
});

test('is in Japanese for a Japanese question', () => {
  expect(unfinishedAnswer(languageOf('東京の天気は？'), ...progress)).toBe(
    `この回答はまだ完了していません。調査は続いています。再度の課金はありません。

回答を受け取るには、同じツールを、同じ引数か次の query で、もう一度呼び出してください。

la1.d.resp_1.x

これまでの時間: 5 分。これまでの検索: 12 回。`,
  );
});

test('says that less than a minute has passed', () => {
  expect(unfinishedAnswer('en', 'la1.d.resp_1.x', 20_000, 0)).toContain('Time so far: less than 1 min.');
});
