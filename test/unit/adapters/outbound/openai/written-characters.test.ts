import { expect, test } from 'vitest';
import { WrittenCharacters } from '../../../../../src/adapters/outbound/openai/written-characters.ts';

const delta = (text: string) => JSON.stringify({ type: 'response.output_text.delta', delta: text });

test('counts characters, and not their code units', () => {
  const written = new WrittenCharacters();
  written.add(delta('日本 🎉'));
  expect(written.count).toBe(4);
  written.add(delta('!'));
  expect([written.count, written.count]).toEqual([5, 5]);
});

test.each([99, 100, 101, 250])('counts %i events that nobody read in between', (events) => {
  const written = new WrittenCharacters();
  for (let event = 0; event < events; event += 1) written.add(delta('ab'));
  expect(written.count).toBe(2 * events);
});

test('ignores what is not a delta', () => {
  const written = new WrittenCharacters();
  for (const data of ['', 'no JSON', '[]', '{"delta":5}']) written.add(data);
  expect(written.count).toBe(0);
});
