import { clean } from '../adapters/outbound/clean.ts';
export const planted = clean;
