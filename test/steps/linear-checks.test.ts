import { expect, test } from 'vitest';
import { READERS } from './readers.ts';
import { slowParts } from './slow-parts.ts';

// They have no limit of length that a longer text would show, and each character takes hundreds of steps.
test.each(Object.entries(READERS).filter(([name]) => /^domain\/(?:check|evidence)\//.test(name)))(
  '%s takes linear time for every text',
  (_, read) => expect(slowParts(read, 1000)).toEqual([]),
);
