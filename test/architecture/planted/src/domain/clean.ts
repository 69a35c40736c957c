import { ok } from 'neverthrow';
export const clean = ok('domain');
