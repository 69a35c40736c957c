import { expect, test } from 'vitest';
import { languageOf } from '../../../../src/domain/answers/question.ts';

test.each(['東京の天気は？', 'HTTP 404 の意味は？', 'カタカナ', 'ﾊﾝｶｸ', '「進撃の巨人」とは', '「進撃の巨人」'])(
  '%s is Japanese',
  (text) => {
    expect(languageOf(text)).toBe('ja');
  },
);

test.each([
  'What is the weather?',
  '',
  '404',
  '날씨',
  '☀️？',
  '北京今天的天气',
  '天気 Tokyo',
  'What does の mean?',
  'What is the origin of 「こんにちは」?',
])('%j is answered in English', (text) => {
  expect(languageOf(text)).toBe('en');
});
