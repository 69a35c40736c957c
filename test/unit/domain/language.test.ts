import { expect, test } from 'vitest';
import { languageOf } from '../../../src/domain/language.ts';

test.each(['東京の天気は？', 'HTTP 404 の意味は？', 'カタカナ', 'ﾊﾝｶｸ', '天気 Tokyo'])('%s is Japanese', (text) => {
  expect(languageOf(text)).toBe('ja');
});

test.each(['What is the weather?', '', '404', 'Wie ist das Wetter?', '날씨', '☀️？'])(
  '%j is answered in English',
  (text) => {
    expect(languageOf(text)).toBe('en');
  },
);
