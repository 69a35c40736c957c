import { expect, test } from 'vitest';
import { LastLines } from '../../../../../src/adapters/outbound/mcp-client/last-lines.ts';

test('reports complete lines, however they are divided, and not blank ones', () => {
  const lines: string[] = [];
  const last = new LastLines((line) => void lines.push(line));
  for (const text of ['the key is sk-', 'proj-1', '23\n\n \nnext', '', ' line\nrest']) last.push(text);
  expect(lines).toEqual(['the key is sk-proj-123', 'next line']);
});

test('knows the last line that is not blank, also if it has no end', () => {
  const last = new LastLines(() => {});
  expect(last.last).toBe('');
  last.push('Error: no\r\n\n  \n');
  expect(last.last).toBe('Error: no');
  last.push('  at once');
  expect(last.last).toBe('at once');
});

test('keeps 16 kB, whatever arrives', () => {
  const lines: string[] = [];
  const last = new LastLines((line) => void lines.push(line));
  for (let index = 0; index < 100; index += 1) last.push(`${'x'.repeat(99)} `.repeat(10));
  expect(last.last.length).toBeGreaterThan(16_000);
  expect(last.last.length).toBeLessThanOrEqual(16 * 1024);
  last.push('\nend');
  expect(last.last).toBe('end');
  expect(lines[0]?.length).toBeLessThanOrEqual(17 * 1024);
});

test('keeps no part of a word, of which a secret would not be recognized', () => {
  const lines: string[] = [];
  const last = new LastLines((line) => void lines.push(line));
  last.push(`token s3cr3t-value-123456 ${'x '.repeat(8 * 1024 - 5)}`);
  expect(last.last).toMatch(/^x x/);
  last.push('\n');
  expect(lines[0]?.trim()).toMatch(/^x x/);
});
