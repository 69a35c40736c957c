import { ok } from 'neverthrow';
import { clean } from '../domain/clean.ts';
export type Clean = typeof clean;
export const both = ok(clean);
