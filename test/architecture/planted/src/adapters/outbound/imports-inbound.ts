export type { clean } from '../inbound/clean.ts';
