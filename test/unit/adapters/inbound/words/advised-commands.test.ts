import { expect, test } from 'vitest';
import { withTypedOptions } from '../../../../../src/adapters/inbound/words/advised-commands.ts';

test.each([
  [
    'sign in with: openai-responses-mcp login tickets.',
    'sign in with: openai-responses-mcp login tickets --config g.yaml.',
  ],
  ['openai-responses-mcp tools --diff, and more', 'openai-responses-mcp tools --diff --config g.yaml, and more'],
  [
    'Sign in with: openai-responses-mcp login <server>',
    'Sign in with: openai-responses-mcp login <server> --config g.yaml',
  ],
  ['openai-responses-mcp is a program', 'openai-responses-mcp is a program'],
])('%j has the typed --config', (text, advised) => {
  expect(withTypedOptions(text, { '--config': 'g.yaml', '--debug': '' })).toBe(advised);
});

test('a path is a word for a shell, and the servers file is repeated, too', () => {
  expect(
    withTypedOptions('openai-responses-mcp login a', { '--servers': "my file's.json", '--config': 'g.yaml' }),
  ).toBe("openai-responses-mcp login a --config g.yaml --servers 'my file'\\''s.json'");
});
