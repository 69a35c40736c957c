import { one } from '../one/clean.ts';

export const planted = one;
