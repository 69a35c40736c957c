import { expect, test } from 'vitest';
import { READERS } from './readers.ts';
import { slowParts } from './slow-parts.ts';

test.each(Object.entries(READERS).filter(([name]) => /^domain\/(?:check|evidence)\//.test(name)))(
  '%s takes linear time for every text',
  (_, read) => expect(slowParts(read)).toEqual([]),
);
