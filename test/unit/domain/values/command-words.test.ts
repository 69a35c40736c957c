import { expect, test } from 'vitest';
import { commandWords, endOfReference, unquoted } from '../../../../src/domain/values/command-words.ts';

test.each([
  ['op read op://dev/github/token', ['op', 'read', 'op://dev/github/token']],
  ['  op \t read\n  x ', ['op', 'read', 'x']],
  ["op read 'op://my vault/token'", ['op', 'read', 'op://my vault/token']],
  ['"C:/Program Files/op.exe" read', ['C:/Program Files/op.exe', 'read']],
  ['a"b c"d\'e f\'', ['ab cde f']],
  ['a\\ b \\"c\\\\', ['a b', '"c\\']],
  ['"a\\"b\\\\c\\d\\$e"', ['a"b\\c\\d$e']],
  ["'a\\'b", ['a\\b']],
  ['echo ""', ['echo', '']],
  ["echo '' x", ['echo', '', 'x']],
  ['echo $HOME | cat > x && y *', ['echo', '$HOME', '|', 'cat', '>', 'x', '&&', 'y', '*']],
  ['echo a\\', ['echo', 'a\\']],
  ['echo 秘密', ['echo', '秘密']],
])('separates the words of %s', (text, words) => {
  expect(commandWords(text)).toEqual(words);
});

test.each(['', '   ', "echo 'a", 'echo "a', 'echo "a\\"'])('finds no words in %j', (text) => {
  expect(commandWords(text)).toBeUndefined();
});

test.each([
  ['op read x} rest', 'op read x'],
  ['echo "a}b"} rest', 'echo "a}b"'],
  ["echo '}'} rest", "echo '}'"],
  ["/home/O'Brien/key} rest", "/home/O'Brien/key"],
  ['echo \\"}', 'echo \\"'],
  ['echo "\\"}"}', 'echo "\\"}"'],
  ['C:\\keys\\} rest', 'C:\\keys\\'],
])('a reference ends at the first brace outside quotations: %s', (text, read) => {
  expect(text.slice(0, endOfReference(text, 0))).toBe(read);
});

test('what has no brace outside quotations does not end', () => {
  expect(endOfReference('echo "a}"', 0)).toBeUndefined();
});

test.each([
  ['"/a b/c"', '/a b/c'],
  ["'/a b'", '/a b'],
  ["/O'Brien", "/O'Brien"],
  ['"a" and "b"', '"a" and "b"'],
])('takes %s out of its quotation marks', (text, read) => {
  expect(unquoted(text)).toBe(read);
});
