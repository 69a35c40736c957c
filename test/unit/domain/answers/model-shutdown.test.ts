import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isShutdownNear, shutdownOf } from '../../../../src/domain/answers/model-shutdown.ts';

/** The table as it is written, since it is private to its file. */
const SOURCE = readFileSync(new URL('../../../../src/domain/answers/model-shutdown.ts', import.meta.url), 'utf8');
const ROWS = [...SOURCE.matchAll(/\{ on: '([^']*)', successor: '([^']*)', models: \[([^\]]*)\] \}/g)].map(
  ([, on = '', successor = '', models = '']) => ({
    on,
    successor,
    models: [...models.matchAll(/'([^']*)'/g)].map(([, model = '']) => model),
  }),
);

describe('the table', () => {
  test('has rows, each with the form that this test reads', () => {
    expect(ROWS.length).toBeGreaterThan(5);
    expect(ROWS).toHaveLength(SOURCE.match(/\bon: '/g)?.length ?? 0);
  });

  test.each(ROWS)('$on: $models', ({ on, successor, models }) => {
    expect(new Date(`${on}T00:00:00Z`).toISOString().slice(0, 10)).toBe(on);
    expect(models.length).toBeGreaterThan(0);
    for (const model of [successor, ...models]) expect(model).toMatch(/^(?:gpt|o\d)(?:[.-][a-z0-9]+|[a-z0-9])*$/);
    for (const model of models) expect(shutdownOf(model)).toMatchObject({ on, successor });
  });

  test('names each model once, and says when it was read', () => {
    const models = ROWS.flatMap((row) => row.models);
    expect(new Set(models).size).toBe(models.length);
    expect(SOURCE).toMatch(/as of \d{4}-\d{2}-\d{2}/);
  });

  test('recommends no model that is shut down earlier', () => {
    for (const { on, successor } of ROWS) expect((shutdownOf(successor)?.on ?? '9999') > on).toBe(true);
  });
});

test.each([
  ['gpt-5-2025-08-07', 'gpt-5'],
  ['gpt-4-0613', 'gpt-4'],
  ['gpt-4o-2024-08-06', 'gpt-4o'],
])('%s is a snapshot of %s', (snapshot, model) => {
  expect(shutdownOf(snapshot)).toEqual(shutdownOf(model));
  expect(shutdownOf(snapshot)).toBeDefined();
});

test.each(['gpt-5.2', 'gpt-5-turbo', 'prod-gpt-5', 'openai/gpt-5', ''])('nothing is known about %j', (model) => {
  expect(shutdownOf(model)).toBeUndefined();
});

test.each([
  ['2026-09-11', false],
  ['2026-09-12', true],
  ['2026-12-11', true],
  ['2027-01-01', true],
])('a shutdown on 2026-12-11 is near on %s: %s', (today, isNear) => {
  expect(isShutdownNear({ on: '2026-12-11', successor: 'x' }, today)).toBe(isNear);
});
