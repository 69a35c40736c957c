import { expect, test } from 'vitest';
import { cutAtParagraph } from '../../../src/domain/answer-size.ts';

test.each([
  ['whole, if it fits', 'One.', 4, 'One.'],
  ['at a paragraph', 'One.\n\nTwo.\n\nThree.', 16, 'One.\n\nTwo.'],
  ['else at a line', 'One.\nTwo.\nThree.', 12, 'One.\nTwo.'],
  ['else behind a sentence', 'One. Two. Three.', 12, 'One. Two.'],
  ['else behind a Japanese sentence', '晴れ。雨。くもり', 6, '晴れ。雨。'],
  ['else where it must be', 'OneTwoThree', 6, 'OneTwo'],
  ['where it must be, rather than far before', 'One. TwoThreeFourFiveSix', 20, 'One. TwoThreeFourFiv'],
  ['never inside a character', '😀😀', 3, '😀'],
  ['to nothing', 'One.', 0, ''],
  ['to nothing, even below it', 'One.', -5, ''],
])('a text is cut %s', (_, text, max, cut) => {
  expect(cutAtParagraph(text, max)).toBe(cut);
});
