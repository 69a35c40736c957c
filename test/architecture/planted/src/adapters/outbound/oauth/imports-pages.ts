import { page } from '../pages/clean.ts';

export const planted = page;
