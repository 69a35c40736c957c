import { expect, test } from 'vitest';
import { supportsHyperlinks } from '../../../../../src/adapters/inbound/cli/hyperlink-support.ts';

test.each<[Record<string, string>, boolean]>([
  [{ TERM: 'xterm-256color' }, false],
  [{}, false],
  [{ TERM: 'xterm-256color', VTE_VERSION: '7600' }, true],
  [{ VTE_VERSION: '4601' }, false],
  [{ TERM: 'tmux-256color', VTE_VERSION: '7600' }, false],
  [{ TERM: 'screen', TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.5.0' }, false],
  [{ TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.5.0' }, true],
  [{ TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.0.15' }, false],
  [{ TERM_PROGRAM: 'vscode', TERM_PROGRAM_VERSION: '1.106.2' }, true],
  [{ TERM_PROGRAM: 'vscode', TERM_PROGRAM_VERSION: '1.9.0' }, false],
  [{ TERM_PROGRAM: 'WezTerm', TERM_PROGRAM_VERSION: '20240203-110809-5046fc22' }, true],
  [{ TERM_PROGRAM: 'ghostty', TERM_PROGRAM_VERSION: '1.0.0' }, true],
  [{ TERM_PROGRAM: 'Apple_Terminal', TERM_PROGRAM_VERSION: '455' }, false],
  [{ TERM: 'xterm-kitty' }, true],
  [{ WT_SESSION: 'x' }, true],
  [{ CI: 'true', TERM: 'xterm-kitty' }, false],
  [{ FORCE_HYPERLINK: '1', TERM: 'tmux' }, true],
  [{ FORCE_HYPERLINK: '0', TERM: 'xterm-kitty' }, false],
])('a terminal with %o opens links: %s', (environment, expected) => {
  expect(supportsHyperlinks(environment)).toBe(expected);
});
