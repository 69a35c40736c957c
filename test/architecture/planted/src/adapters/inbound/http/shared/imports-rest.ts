export type { clean } from '../rest/clean.ts';
