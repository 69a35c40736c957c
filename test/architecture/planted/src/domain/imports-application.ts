import type { Clean } from '../application/clean.ts';
export type Planted = Clean;
